package ledgersync

import (
	"bytes"
	"io"

	"relay/epic/plaintext"
)

// MaxLine is how long a line of a ledger may be, in bytes. A longer one is not an entry.
const MaxLine = 1 << 20

// byteOrderMark is what some editors put before the first line.
const byteOrderMark = "\xef\xbb\xbf"

// line is a line of a ledger that holds something. text is nil when it is longer than MaxLine, and is valid until the next line is read.
type line struct {
	number int // from 1
	text   []byte
	whole  bool // it has an end
}

// eachLine calls f with every line that holds something. f's error ends it and is returned.
func eachLine(r io.Reader, f func(line) error) error {
	number := 0
	return plaintext.EachLine(r, 64<<10, MaxLine, func(text []byte, size int64, whole bool) error {
		if number++; number == 1 {
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		l := line{number: number, text: bytes.TrimSpace(text), whole: whole}
		if size > MaxLine {
			l.text = nil
		} else if len(l.text) == 0 {
			return nil
		}
		return f(l)
	})
}

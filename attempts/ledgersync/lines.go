package ledgersync

import (
	"bufio"
	"bytes"
	"errors"
	"io"
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
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, length, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		l := line{number: number, text: text, whole: err == nil}
		if number == 1 {
			l.text = bytes.TrimPrefix(l.text, []byte(byteOrderMark))
		}
		if l.text = bytes.TrimSpace(l.text); len(l.text) > 0 || length > MaxLine {
			if err := f(l); err != nil {
				return err
			}
		}
		if !l.whole {
			return nil
		}
	}
}

// readLine reads to the end of a line, and returns how many bytes that took. Of a line that is too long there is no text.
func readLine(in *bufio.Reader) (text []byte, length int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		switch length += int64(len(part)); {
		case length > MaxLine:
			text = nil
		case err == nil && text == nil:
			return part, length, nil // the usual case, without a copy
		default:
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, length, err
		}
	}
}

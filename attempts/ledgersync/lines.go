package ledgersync

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is how long a line of a ledger may be, in bytes. A longer one is no entry.
const MaxLine = 1 << 20

// byteOrderMark is what some editors put before the first line.
const byteOrderMark = "\xef\xbb\xbf"

// eachLine calls f with every line that holds something, its number from 1, and whether it has an end. A line that is longer than
// MaxLine comes without its text. f's error ends it and is returned.
func eachLine(r io.Reader, f func(number int, text []byte, whole bool) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, tooLong, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		whole := err == nil
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		if text = bytes.TrimSpace(text); len(text) > 0 || tooLong {
			if err := f(number, text, whole); err != nil {
				return err
			}
		}
		if !whole {
			return nil
		}
	}
}

// readLine reads to the end of a line. Of one that is too long it keeps nothing.
func readLine(in *bufio.Reader) (text []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(text)+len(part) > MaxLine; tooLong {
			text = nil
		} else {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, tooLong, err
		}
	}
}

// eachLineBackward calls f with every line that holds something, the last one first, until f returns false. Lines that are longer than
// MaxLine are left out. It keeps no more than such a line in memory.
func eachLineBackward(r io.ReaderAt, size int64, f func(text []byte) (more bool)) error {
	const step = 64 << 10
	var tail []byte // what is read of the line that the chunk before it begins
	tooLong := false
	line := func(text []byte) bool {
		text = bytes.TrimSpace(text)
		return len(text) == 0 || len(text) > MaxLine || f(text)
	}
	for end := size; end > 0; {
		begin := max(0, end-step)
		chunk := make([]byte, end-begin, int(end-begin)+len(tail))
		if _, err := r.ReadAt(chunk, begin); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		end = begin
		at := bytes.LastIndexByte(chunk, '\n')
		if at < 0 {
			if tooLong = tooLong || len(chunk)+len(tail) > MaxLine; tooLong {
				tail = nil
			} else {
				tail = append(chunk, tail...)
			}
			continue
		}
		if !tooLong && !line(append(bytes.Clone(chunk[at+1:]), tail...)) {
			return nil
		}
		for tooLong = false; ; {
			next := bytes.LastIndexByte(chunk[:at], '\n')
			if next < 0 {
				tail = bytes.Clone(chunk[:at])
				break
			}
			if !line(chunk[next+1 : at]) {
				return nil
			}
			at = next
		}
	}
	if !tooLong {
		line(bytes.TrimPrefix(tail, []byte(byteOrderMark)))
	}
	return nil
}

package ledgersync

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ReadFrom calls f with the lines of a ledger that begin at an offset or behind it, the oldest first, and where each begins. Lines that are
// longer than MaxLine, and blank ones, are left out. An offset within a line stands for the line after it. It returns the offset behind
// the last line that has an end: what is read next time.
func ReadFrom(r io.ReaderAt, size, from int64, f func(at int64, line []byte)) (next int64, err error) {
	begin := max(from-1, 0)
	in := bufio.NewReaderSize(io.NewSectionReader(r, begin, size-begin), 64<<10)
	at := begin
	if from > 0 { // to the end of the line before
		skipped, err := skipLine(in)
		if at += skipped; err != nil {
			return at, notEnd(err)
		}
	}
	for {
		text, length, err := readWhole(in)
		if line := bytes.TrimSpace(text); len(line) > 0 {
			f(at, bytes.TrimPrefix(line, []byte(byteOrderMark)))
		}
		if err != nil {
			return at, notEnd(err)
		}
		at += length
	}
}

// DecodeAt reads the entry whose line begins at an offset.
func DecodeAt(r io.ReaderAt, size, at int64) (*Entry, error) {
	text, _, err := readWhole(bufio.NewReaderSize(io.NewSectionReader(r, at, size-at), 16<<10))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	e, _, err := Decode(bytes.TrimPrefix(bytes.TrimSpace(text), []byte(byteOrderMark)))
	return e, err
}

// readWhole reads to the end of a line, and returns how many bytes that took. Of a line that is too long there is no text.
func readWhole(in *bufio.Reader) (text []byte, length int64, err error) {
	for tooLong := false; ; {
		part, err := in.ReadSlice('\n')
		if length += int64(len(part)); length > MaxLine {
			text, tooLong = nil, true
		}
		switch {
		case tooLong:
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

// skipLine reads to the end of a line without keeping it.
func skipLine(in *bufio.Reader) (length int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		length += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return length, err
		}
	}
}

// notEnd drops the error that says that a file has ended.
func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

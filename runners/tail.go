package runners

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"syscall"

	"relay/runners/process"
)

const (
	maxLine   = 8 << 20 // a longer line of output is skipped: the longest measured one had 1.6 MB
	lookBytes = 4 << 20 // read at one look, so that a flood cannot keep the limits from being checked
)

// tail reads a growing file line by line, in bounded memory, and gives its middle back to the disk.
type tail struct {
	path string
	long int          // a longer line is skipped; 0: maxLine
	kept int64        // bytes of the file to keep; 0: all
	line func([]byte) // gets each whole line, without its end; must not keep it

	lines *process.Lines
	gone  chan struct{}
	off   int64 // bytes of the file that were handed on
}

// read hands on what came since the last call, at most lookBytes of it, and reports whether that was everything.
func (t *tail) read() (all bool, err error) { return t.readTo(math.MaxInt64) }

// readTo is read for the lines that begin before an offset of the file.
func (t *tail) readTo(end int64) (all bool, err error) {
	if t.lines == nil {
		if empty(t.path) {
			return true, nil
		}
		t.gone = make(chan struct{})
		t.lines, err = process.OpenLines(t.path, process.LinesOptions{Gone: t.gone, MaxLine: cmp.Or(t.long, maxLine), Cap: t.kept})
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
	}
	for budget := int64(lookBytes); budget > 0; {
		if t.off >= end {
			return true, nil
		}
		line, ok, err := t.lines.Now()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil || !ok {
			return true, err
		}
		size := int64(len(line.Data)) + line.Dropped + 1 // an empty line counts too
		budget -= size
		t.off += size
		if line.Dropped == 0 { // a line without its middle says nothing
			t.line(line.Data)
		}
	}
	return false, nil
}

// until reads on to an offset of the file.
func (t *tail) until(end int64) {
	for {
		if all, err := t.readTo(end); all || err != nil {
			return // an error shows again in finish
		}
	}
}

// finish reads the rest of a file that no longer grows, its last line also when that has no end.
func (t *tail) finish() error {
	if t.lines == nil {
		if _, err := t.read(); err != nil || t.lines == nil {
			return err
		}
	}
	close(t.gone)
	for {
		if all, err := t.read(); all || err != nil {
			return err
		}
	}
}

func (t *tail) close() {
	if t.lines != nil {
		_ = t.lines.Close() // it was only read
	}
}

// lastBytes returns the end of a file, at most limit bytes of it and no half of a word; a missing file is empty, and so is
// what cannot be read as one.
func lastBytes(path string, limit int64) ([]byte, error) {
	if empty(path) {
		return nil, nil
	}
	f, err := OpenRegular(path)
	// Whoever wrote it can have put anything there, and in the place of its folder.
	if slices.ContainsFunc([]error{fs.ErrNotExist, fs.ErrPermission, errOdd, syscall.ENOTDIR}, func(odd error) bool { return errors.Is(err, odd) }) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	from := max(0, info.Size()-limit)
	data, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if from > 0 {
		data = data[halfWord(data):]
	}
	return data, err
}

// lastPart returns at most limit bytes of the end of a text, and no half of a word.
func lastPart(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	end := text[len(text)-limit:]
	return end[halfWord(end):]
}

// halfWord is where in the end of a text its first whole word begins: half a secret is not known for one.
func halfWord(end []byte) int {
	return max(0, bytes.IndexAny(end[:min(len(end), longWord)], " \n\t"))
}

// empty reports that a file is there and has nothing in it, as the output of many a command: it need not be opened.
func empty(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() == 0
}

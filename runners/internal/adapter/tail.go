package adapter

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"

	"relay/runners/process"
)

const (
	maxLine   = 8 << 20 // a longer line of output is skipped: the longest measured one had 1.6 MB
	pollBytes = 4 << 20 // read at one look, so that a flood cannot keep the limits from being checked
)

// Tail reads a growing file line by line, in bounded memory, and gives its middle back to the disk.
type Tail struct {
	Path string
	long int          // a longer line is skipped; 0: maxLine
	kept int64        // bytes of the file to keep; 0: all
	Line func([]byte) // gets each whole line, without its end; must not keep it

	lines *process.Lines
	gone  chan struct{}
	off   int64 // bytes of the file that were handed on
}

// Read hands on what came since the last call, at most pollBytes of it, and reports whether that was everything.
func (t *Tail) Read() (all bool, err error) { return t.readTo(math.MaxInt64) }

// readTo reads the lines that begin before an offset of the file.
func (t *Tail) readTo(end int64) (all bool, err error) {
	if t.lines == nil {
		if empty(t.Path) {
			return true, nil
		}
		t.gone = make(chan struct{})
		t.lines, err = process.OpenLines(t.Path, process.LinesOptions{Gone: t.gone, MaxLine: cmp.Or(t.long, maxLine), Cap: t.kept})
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
	}
	for budget := int64(pollBytes); budget > 0; {
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
			t.Line(line.Data)
		}
	}
	return false, nil
}

// Finish reads the rest of a file that no longer grows, its last line also when that has no end.
func (t *Tail) Finish() error {
	if t.lines == nil {
		if _, err := t.Read(); err != nil || t.lines == nil {
			return err
		}
	}
	close(t.gone)
	for {
		if all, err := t.Read(); all || err != nil {
			return err
		}
	}
}

// Close closes the file.
func (t *Tail) Close() {
	if t.lines != nil {
		_ = t.lines.Close() // it was only read
	}
}

package runners

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

const (
	maxLine   = 8 << 20  // a longer line of output is skipped whole: the longest measured one had 1.6 MB
	lookBytes = 64 << 20 // read at one look, so that a flood cannot keep the limits from being checked
)

// tail reads a growing file line by line, in bounded memory.
type tail struct {
	path string
	line func([]byte) // gets each whole line, without its end; must not keep it

	file     *os.File
	offset   int64
	partial  []byte
	skipping bool // inside a line that is too long
}

// read hands on what came since the last call, at most lookBytes of it, and reports whether that was everything.
func (t *tail) read(buf []byte) (all bool, err error) {
	if t.file == nil {
		if t.file, err = os.Open(t.path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return true, nil
			}
			return true, err
		}
	}
	for budget := int64(lookBytes); budget > 0; {
		n, err := t.file.ReadAt(buf, t.offset)
		t.offset += int64(n)
		budget -= int64(n)
		t.feed(buf[:n])
		if errors.Is(err, io.EOF) {
			t.follow()
			return true, nil
		}
		if err != nil {
			return true, err
		}
	}
	return false, nil
}

// follow goes back to the end of a file that was cut short under us: the agent can write to its own output file.
func (t *tail) follow() {
	if info, err := t.file.Stat(); err == nil && info.Size() < t.offset {
		t.offset = info.Size()
	}
}

func (t *tail) feed(data []byte) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			t.keep(data)
			return
		}
		switch {
		case t.skipping:
			t.skipping = false
		case len(t.partial) == 0:
			t.line(data[:i])
		default:
			if t.keep(data[:i]); !t.skipping {
				t.line(t.partial)
			}
			t.skipping = false
		}
		t.partial = t.partial[:0]
		data = data[i+1:]
	}
}

func (t *tail) keep(data []byte) {
	if t.skipping || len(t.partial)+len(data) > maxLine {
		t.skipping, t.partial = true, nil
		return
	}
	t.partial = append(t.partial, data...)
}

// finish reads the rest of a file that no longer grows, its last line also when that has no end.
func (t *tail) finish(buf []byte) error {
	for {
		all, err := t.read(buf)
		if err != nil {
			return err
		}
		if all {
			break
		}
	}
	if len(t.partial) > 0 && !t.skipping {
		t.line(t.partial)
	}
	t.partial = nil
	return nil
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close() // it was only read
	}
}

// lastBytes returns the end of a file, at most limit bytes of it; a missing file is empty.
func lastBytes(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
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
	return io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
}

package durable

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
)

// Copy is a compressed copy of a log in memory, from which the log is restored when an agent has damaged it.
type Copy struct {
	name  string
	buf   bytes.Buffer
	w     *flate.Writer // nil while the log is small: a compressor is larger than most logs
	size  int64
	sum   hash.Hash // not a checksum: who changes a log may want it to look unchanged
	stamp Stamp     // of the file, for the log of an earlier run
}

// smallLog is from where on a copy is compressed.
const smallLog = 128 << 10

// NewCopy begins the copy of an empty log.
func NewCopy(name string) *Copy { return &Copy{name: name, sum: sha256.New()} }

// Name returns the log's name.
func (c *Copy) Name() string { return c.name }

// Write appends what was appended to the log. It never fails.
func (c *Copy) Write(p []byte) (int, error) {
	c.size += int64(len(p))
	c.sum.Write(p)
	if c.w == nil && c.size <= smallLog {
		return c.buf.Write(p)
	}
	if c.w == nil {
		small := c.buf
		c.buf = bytes.Buffer{}
		c.w, _ = flate.NewWriter(&c.buf, flate.BestSpeed) // the level is valid, and a buffer takes every write
		_, _ = c.w.Write(small.Bytes())
	}
	return c.w.Write(p)
}

// Finish ends the copy of a log that is not written any more.
func (c *Copy) Finish(fsys FS) error {
	if c.w != nil {
		_ = c.w.Close()
		c.w = nil
	}
	return c.restamp(fsys)
}

func (c *Copy) restamp(fsys FS) error {
	info, err := fsys.Lstat(c.name)
	if err != nil {
		return err
	}
	c.stamp = StampOf(info)
	return nil
}

// Emit writes the log's contents.
func (c *Copy) Emit(w io.Writer) error {
	if c.size <= smallLog {
		_, err := w.Write(c.buf.Bytes())
		return err
	}
	if c.w != nil {
		_ = c.w.Flush()
	}
	_, err := io.CopyN(w, flate.NewReader(bytes.NewReader(c.buf.Bytes())), c.size)
	return err
}

// Same reads the file and compares it with the copy.
func (c *Copy) Same(fsys FS) bool {
	f, err := Regular(fsys, c.name, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(f, c.size+1))
	return err == nil && size == c.size && bytes.Equal(sum.Sum(nil), c.sum.Sum(nil))
}

// PutBack restores the log of an earlier run, and reports whether that was necessary.
func (c *Copy) PutBack(fsys FS) (bool, error) {
	info, err := fsys.Lstat(c.name)
	if err == nil && info.Mode().IsRegular() && StampOf(info).Same(c.stamp) {
		return false, nil
	}
	if err == nil && c.Same(fsys) {
		c.stamp = StampOf(info)
		return false, nil
	}
	if err := Clear(fsys, c.name); err != nil {
		return true, err
	}
	if err := Replace(fsys, c.name, nil, Content{Write: c.Emit}); err != nil {
		return true, err
	}
	return true, c.restamp(fsys)
}

// Mark is a place in a log, with the SHA-256 of all that comes before it, in hex.
type Mark struct {
	Name   string
	Size   int64
	SHA256 string
}

// Mark returns where the log ends.
func (c *Copy) Mark() Mark { return Mark{c.name, c.size, hex.EncodeToString(c.sum.Sum(nil))} }

// In returns a function that reports whether the log still has what came before the mark. The log is read meanwhile.
func (m Mark) In(fsys FS) func() bool {
	file, err := OpenHashed(fsys, m.Name, m.Size)
	if err != nil || file == nil {
		return func() bool { return false }
	}
	return func() bool {
		file.Close()
		return file.Sum() == m.SHA256
	}
}

// Cut removes what a crash has left at the end of a log, keeps it beside the log, and returns a copy of the rest.
func Cut(fsys FS, name string, tail TornTail) (*Copy, error) {
	f, err := Regular(fsys, name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	torn := io.NewSectionReader(f, tail.Offset, tail.Bytes)
	if err := Replace(fsys, name+".torn", nil, From(torn)); err != nil {
		return nil, err
	}
	if err := f.Truncate(tail.Offset); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	rest := NewCopy(name)
	_, err = io.Copy(rest, io.NewSectionReader(f, 0, tail.Offset))
	return rest, err
}

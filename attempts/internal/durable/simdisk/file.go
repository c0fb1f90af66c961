package simdisk

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"relay/attempts/internal/durable"
)

type file struct {
	disk    *Disk
	node    *node
	name    string
	at      int
	appends bool
}

func (f *file) Read(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.at >= len(f.node.data) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[f.at:])
	f.at += n
	return n, nil
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.ErrUnsupported
	}
	f.at = int(offset)
	return offset, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.tick(); err != nil {
		return 0, err
	}
	if f.appends {
		f.at = len(f.node.data)
	}
	f.do(write{f.at, slices.Clone(p)})
	f.at += len(p)
	return len(p), nil
}

func (f *file) do(w write) {
	f.node.data = w.apply(f.node.data)
	f.node.writes = append(f.node.writes, w)
	f.node.touched = f.disk.clock
}

func (w write) apply(data []byte) []byte {
	if w.data == nil {
		return data[:min(w.at, len(data))]
	}
	if w.at < len(data) { // others may look at these bytes
		data = slices.Clone(data)
	}
	if missing := w.at + len(w.data) - len(data); missing > 0 {
		data = append(slices.Clip(data), make([]byte, missing)...)
	}
	copy(data[w.at:], w.data)
	return data
}

func (f *file) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.tick(); err != nil {
		return err
	}
	f.do(write{at: int(size)})
	return nil
}

func (f *file) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.tick(); err != nil {
		return err
	}
	f.node.safe, f.node.writes = f.node.data, nil
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.node.info(path.Base(f.name)), nil
}

func (f *file) TryLock(bool) (bool, error) { return true, nil }

func (f *file) Unlock() error { return nil }

func (f *file) Close() error { return nil }

type info struct {
	name  string
	stamp durable.Stamp
	dir   bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.stamp.Size }
func (i info) ModTime() time.Time { return i.stamp.Changed }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return i.stamp }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o600
}

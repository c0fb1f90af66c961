package attempts

import (
	"bytes"
	"compress/flate"
	"io"
	"os"

	"relay/attempts/internal/durable"
	"relay/attempts/internal/eventlog"
)

// kept is a compressed copy of a log in memory, from which the log is restored when an agent has damaged it.
type kept struct {
	name  string
	buf   bytes.Buffer
	w     *flate.Writer // nil while the log is small: a compressor is larger than most logs
	size  int64
	sum   uint32
	stamp durable.Stamp // of the file, for the log of an earlier run
}

// smallLog is from where on a copy is compressed.
const smallLog = 128 << 10

func newKept(name string) *kept { return &kept{name: name} }

func (k *kept) add(p []byte) {
	k.size += int64(len(p))
	k.sum = eventlog.Sum(k.sum, p)
	if k.w == nil && k.size <= smallLog {
		k.buf.Write(p)
		return
	}
	if k.w == nil {
		small := k.buf
		k.buf = bytes.Buffer{}
		k.w, _ = flate.NewWriter(&k.buf, flate.BestSpeed) // the level is valid, and a buffer takes every write
		_, _ = k.w.Write(small.Bytes())
	}
	_, _ = k.w.Write(p)
}

// settle ends the copy of a log that is not written any more.
func (k *kept) settle(fsys durable.FS) error {
	if k.w != nil {
		_ = k.w.Close()
		k.w = nil
	}
	return k.restamp(fsys)
}

func (k *kept) restamp(fsys durable.FS) error {
	info, err := fsys.Lstat(k.name)
	if err != nil {
		return err
	}
	k.stamp = durable.StampOf(info)
	return nil
}

// writeTo writes the log as it was.
func (k *kept) writeTo(w io.Writer) error {
	if k.size <= smallLog {
		_, err := w.Write(k.buf.Bytes())
		return err
	}
	if k.w != nil {
		_ = k.w.Flush()
	}
	_, err := io.CopyN(w, flate.NewReader(bytes.NewReader(k.buf.Bytes())), k.size)
	return err
}

// same reads the file and compares it with the copy.
func (k *kept) same(fsys durable.FS) bool {
	f, err := durable.Regular(fsys, k.name, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	var sum uint32
	var size int64
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		sum = eventlog.Sum(sum, buf[:n])
		if size += int64(n); size > k.size {
			return false
		}
		if err == io.EOF {
			return size == k.size && sum == k.sum
		}
		if err != nil {
			return false
		}
	}
}

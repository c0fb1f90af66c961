package durable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// Hashed is a file that is hashed in the background. Its text is read only where the hash does not tell enough.
type Hashed struct {
	Stamp Stamp
	Sum   func() string // SHA-256 of the text, in hex; that of one that cannot be read is of no file
	file  File
	most  int64
}

// OpenHashed opens a file of which at most so many bytes count; nil: there is none. The caller closes what it returns.
func OpenHashed(fsys FS, name string, most int64) (*Hashed, error) {
	f, err := Regular(fsys, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	h := &Hashed{file: f, most: most, Stamp: StampOf(info)}
	h.Sum = sync.OnceValue(func() string {
		of := sha256.New()
		_, _ = io.Copy(of, h.content())
		return hex.EncodeToString(of.Sum(nil))
	})
	go h.Sum()
	return h, nil
}

func (h *Hashed) content() io.Reader { return io.NewSectionReader(h.file, 0, h.most) }

// Text reads the text.
func (h *Hashed) Text() ([]byte, error) {
	text := bytes.NewBuffer(make([]byte, 0, min(h.Stamp.Size, h.most)+bytes.MinRead))
	_, err := text.ReadFrom(h.content())
	return text.Bytes(), err
}

// Close ends reading, after the hash is known.
func (h *Hashed) Close() {
	h.Sum()
	_ = h.file.Close()
}

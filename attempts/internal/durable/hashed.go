package durable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"relay/epic/plaintext"
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

// sealed is the first line of a sealed file: the version of its writer, the form, which builds of one version may change, and a hash.
const sealed = "%s 2 %x"

// Seal returns the first line of a sealed file, with a hash of all that the file is made of and has.
func Seal(version string, of ...[]byte) []byte {
	sum := sha256.New()
	for _, part := range of {
		sum.Write(part)
	}
	return fmt.Appendf(nil, sealed+"\n", version, sum.Sum(nil))
}

// Sealed calls f with each line that follows the seal of a file of which at most so many bytes count. They count only if it returns true:
// the seal is of this version and these lines, and f has read them all.
func Sealed(fsys FS, name, version string, most int64, f func(line []byte) error) bool {
	file, err := Regular(fsys, name, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer file.Close()
	seal, sum := "", sha256.New()
	err = plaintext.EachLine(io.NewSectionReader(file, 0, most), 64<<10, int(most), func(line []byte, _ int64, _ bool) error {
		if seal == "" {
			seal = string(line)
			return nil
		}
		sum.Write(append(line, '\n'))
		return f(line)
	})
	return err == nil && seal == fmt.Sprintf(sealed, version, sum.Sum(nil))
}

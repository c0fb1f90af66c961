package durable

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	fast "github.com/segmentio/encoding/json"
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

// Seal returns the first line of a sealed file: the version of its writer, and a hash of all that the file is made of and has.
func Seal(version string, of ...[]byte) []byte {
	sum := sha256.New()
	for _, part := range of {
		sum.Write(part)
	}
	return []byte(sealOf(version, sum))
}

func sealOf(version string, sum hash.Hash) string {
	return fmt.Sprintf("%s %x\n", version, sum.Sum(nil))
}

// SealLines returns the text of a sealed file of JSON values, each in a line of its own; size is about how long it is.
func SealLines(version string, size int, values []any) []byte {
	seal := Seal(version)
	text := append(make([]byte, 0, len(seal)+size), seal...)
	for _, v := range values {
		text, _ = fast.Append(text, v, 0) // a reader refuses what cannot be written
		text = append(text, '\n')
	}
	copy(text, Seal(version, text[len(seal):]))
	return text
}

// SealedLines reads a sealed file line by line, so that its whole text is never in memory.
type SealedLines struct {
	file          File
	seal, version string
	sum           hash.Hash
	lines         *bufio.Scanner
	err           error
}

// OpenSealed opens a sealed file of which at most so many bytes count. Of one that cannot be opened no line can be read.
func OpenSealed(fsys FS, name, version string, most int) *SealedLines {
	file, err := Regular(fsys, name, os.O_RDONLY)
	l := &SealedLines{file: file, version: version, sum: sha256.New(), err: err}
	if err != nil {
		return l
	}
	text := bufio.NewReader(io.NewSectionReader(file, 0, int64(most)))
	l.seal, _ = text.ReadString('\n')
	l.lines = bufio.NewScanner(io.TeeReader(text, l.sum))
	if l.lines.Buffer(nil, most); !strings.HasPrefix(l.seal, version+" ") {
		l.err = errors.New("it is of another version")
	}
	return l
}

// Next reads the next line into the value that to points to, and reports whether it could.
func (l *SealedLines) Next(to any) bool {
	if l.err != nil || !l.lines.Scan() {
		return false
	}
	l.err = fast.Unmarshal(l.lines.Bytes(), to)
	return l.err == nil
}

// Whole reports whether all lines were read, and are those that were sealed.
func (l *SealedLines) Whole() bool {
	return l.err == nil && l.lines.Err() == nil && sealOf(l.version, l.sum) == l.seal
}

// Close ends reading.
func (l *SealedLines) Close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}

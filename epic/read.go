package epic

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// MaxSize is the size, in bytes, of the largest epic.yml that is read: parsing needs many times the memory of the text.
const MaxSize = 16 << 20

// splitFrom is the size from which a file is parsed in fragments; below it the whole tree of nodes costs nothing worth saving.
const splitFrom = 64 << 10

// fragmentSize is how much text is parsed at a time.
const fragmentSize = 16 << 10

// Load reads an epic from a file, which must be a regular file when links are resolved, of at most MaxSize.
// The error is Problems when the content is at fault.
func Load(path string) (*Epic, error) {
	src, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	return Read(path, src)
}

// readRegular reads no more than one byte beyond MaxSize, which is enough for Read to refuse it.
func readRegular(path string) ([]byte, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("epic: %w", err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return nil, fmt.Errorf("epic: %w", err)
	}
	// Opening a pipe would wait for a writer, so the kind of file is looked at first.
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("epic: %s is not a regular file", path)
	}
	f, err := os.Open(resolved)
	if err != nil {
		return nil, fmt.Errorf("epic: %w", err)
	}
	defer f.Close()
	src := make([]byte, min(info.Size(), MaxSize)+1)
	n, err := io.ReadFull(f, src)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return src[:n], nil
	}
	if err != nil {
		return nil, fmt.Errorf("epic: %w", err)
	}
	if n > MaxSize {
		return src, nil
	}
	rest, err := io.ReadAll(io.LimitReader(f, int64(MaxSize+1-n))) // the file has grown since
	if err != nil {
		return nil, fmt.Errorf("epic: %w", err)
	}
	return append(src, rest...), nil
}

// Read parses and validates an epic; name is what its problems call the file. The error is Problems, all at once.
func Read(name string, src []byte) (*Epic, error) {
	least := fragmentSize
	if len(src) < splitFrom {
		least = 0
	}
	return read(name, src, least)
}

// read is Read with the least size of a fragment, or 0 to parse the file as one.
func read(name string, src []byte, fragment int) (*Epic, error) {
	if p, bad := scan(src); bad {
		p.File = name
		return nil, Problems{p}
	}
	if parts, ok := split(src, fragment); ok && fragment > 0 {
		r := newReader(name)
		if r.fragments(parts) {
			return r.finish()
		}
		// An error may be the cut's: the whole file decides.
	}
	r := newReader(name)
	r.document(src)
	return r.finish()
}

// finish checks what only the whole epic can tell.
func (r *reader) finish() (*Epic, error) {
	if r.broken {
		return nil, r.err()
	}
	r.header()
	if !r.tasksLost {
		r.links()
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.epic, nil
}

package plaintext

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// IrregularError means that something else is where a file belongs.
type IrregularError struct{ Path, Kind string }

func (e *IrregularError) Error() string { return e.Path + " is " + e.Kind + ", not a file" }

// ReadFile reads a regular file, of a longer one than limit bytes one byte more. It follows a link. Anything else is an *IrregularError, at
// once: it does not wait for a pipe.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
	case mode.IsDir():
		return nil, &IrregularError{path, "a folder"}
	case mode&fs.ModeNamedPipe != 0:
		return nil, &IrregularError{path, "a named pipe"}
	default:
		return nil, &IrregularError{path, "a socket or a device"}
	}
	content := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+bytes.MinRead))
	_, err = content.ReadFrom(io.LimitReader(f, limit+1))
	return content.Bytes(), err
}

// Relative names a file as a user sees it, from the root of the repository if it is below.
func Relative(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

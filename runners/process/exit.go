package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// maxEnd bounds an end file; a real one has some 100 bytes.
const maxEnd = 64 << 10

// ReadExit reads the file that Command.End names. The error wraps fs.ErrNotExist when the end was not seen.
func ReadExit(path string) (Exit, error) {
	data, err := ReadRegular(path, maxEnd)
	if err != nil {
		return Exit{}, err
	}
	var exit Exit
	if err := json.Unmarshal(data, &exit); err != nil {
		return Exit{}, fmt.Errorf("end file %s: %w", path, err)
	}
	return exit, nil
}

// ErrNotRegular is wrapped by the errors of OpenRegular when the path is not a regular file.
var ErrNotRegular = errors.New("is not a regular file")

// OpenRegular opens a regular file that an agent may have had in its hands, through no symbolic link at its end. It refuses a pipe, and
// does not wait.
func OpenRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|noFollow, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) { // a link, or a socket
		return nil, fmt.Errorf("%s %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s %w", path, ErrNotRegular)
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}

// ReadRegular reads at most limit bytes of a file that OpenRegular opens.
func ReadRegular(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text bytes.Buffer
	if info, err := f.Stat(); err == nil {
		text.Grow(int(min(info.Size(), limit)) + bytes.MinRead) // else it is read in many steps
	}
	_, err = text.ReadFrom(io.LimitReader(f, limit))
	return text.Bytes(), err
}

// writeExit writes an end file with one write. It is not synced, nor renamed into place, which would cost as much as
// starting a small process: a missing or torn file after a power cut says correctly that relay did not see the end.
func writeExit(path string, exit Exit) error {
	data, err := json.Marshal(exit)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // whatever an agent put there, it is not written through
		_ = os.Remove(path)
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

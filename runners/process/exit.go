package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxEnd bounds an end file; a real one has some 100 bytes.
const maxEnd = 64 << 10

// ReadExit reads the file that Command.End names. The error wraps fs.ErrNotExist when the end was not seen.
func ReadExit(path string) (Exit, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return Exit{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEnd))
	if err != nil {
		return Exit{}, err
	}
	var exit Exit
	if err := json.Unmarshal(data, &exit); err != nil {
		return Exit{}, fmt.Errorf("end file %s: %w", path, err)
	}
	return exit, nil
}

// openRegular opens a regular file. An agent can have put anything else in its place: a link is not followed, and a pipe is
// not waited for.
func openRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|noFollow, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return f, nil
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

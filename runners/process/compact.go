package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// markRoom is what the line between head and tail may take of the cap.
const markRoom = 64

// Compact rewrites a file of more than limit bytes to its head and its tail, with a line between them that says how
// many bytes were dropped. Both are cut at ends of lines where there are any near. No process may be writing to it.
func Compact(path string, limit int64) (dropped int64, err error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() <= limit {
		return 0, nil
	}
	head := headEnd(f, max(0, limit/2))
	tail := tailStart(f, max(head, info.Size()-max(0, limit-limit/2-markRoom)), info.Size())
	dropped = tail - head
	if err := rewrite(path, f, cutting{head: head, tail: tail, size: info.Size()}); err != nil {
		return 0, fmt.Errorf("compact %s: %w", path, err)
	}
	return dropped, nil
}

// cutting records what to keep of a file: the bytes before head and those from tail on.
type cutting struct{ head, tail, size int64 }

func rewrite(path string, f *os.File, c cutting) error {
	part := path + ".part"
	_ = os.Remove(part) // of a run that was killed
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	newline := ""
	if end := make([]byte, 1); c.head > 0 {
		if _, err := f.ReadAt(end, c.head-1); err == nil && end[0] != '\n' {
			newline = "\n"
		}
	}
	mark := fmt.Sprintf("%s[relay: %d bytes dropped]\n", newline, c.tail-c.head)
	_, err = io.Copy(out, io.MultiReader(
		io.NewSectionReader(f, 0, c.head), bytes.NewReader([]byte(mark)), io.NewSectionReader(f, c.tail, c.size-c.tail)))
	if err == nil {
		err = out.Sync()
	}
	err = errors.Join(err, out.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

// headEnd returns the end of the last line before at, if it is near, else at.
func headEnd(f *os.File, at int64) int64 {
	near := min(at, keepOfLine)
	buf := make([]byte, near)
	n, _ := f.ReadAt(buf, at-near)
	if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
		return at - near + int64(i) + 1
	}
	return at
}

// tailStart returns the start of the first line after at, if it is near, else at.
func tailStart(f *os.File, at, size int64) int64 {
	buf := make([]byte, min(keepOfLine, size-at))
	n, _ := f.ReadAt(buf, at)
	if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 && at+int64(i)+1 < size {
		return at + int64(i) + 1
	}
	return at
}

package durable

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// TempSuffix ends the names of temporary files.
const TempSuffix = ".relay-tmp"

// TempName returns the temporary name of a file that Replace will rename to name.
func TempName(name string) string { return name + TempSuffix }

// Content writes the file that Replace puts in place.
type Content struct {
	Write  func(io.Writer) error
	Before func() error // called when the bytes are durable under the temporary name, before they are put in place; may be nil

	Modified time.Time // when the file was last written, as its folder tells it; zero: now
}

// Text is the content of a file with a text.
func Text(text []byte) Content { return From(bytes.NewReader(text)) }

// From is the content of a file with what is read.
func From(r io.Reader) Content {
	return Content{Write: func(to io.Writer) error {
		_, err := io.Copy(to, r)
		return err
	}}
}

// CopyFile puts what a file holds under another name.
func CopyFile(fsys FS, from, to string) error {
	f, err := Regular(fsys, from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return Replace(fsys, to, nil, From(f))
}

// Replace puts a whole new file under a name: temporary file in the same folder, write, sync, close, rename, sync of
// the folder. After a crash the name holds the old bytes or the new ones, all of them.
func Replace(fsys FS, name string, fault Fault, c Content) error {
	temp := TempName(name)
	if err := fault.at(BeforeTemp); err != nil {
		return err
	}
	err := writeTemp(fsys, temp, fault, c.Write)
	if err == nil && !c.Modified.IsZero() {
		err = fsys.SetModified(temp, c.Modified)
	}
	if err == nil && c.Before != nil {
		err = c.Before()
	}
	if err == nil {
		err = fault.at(BeforeRename)
	}
	if err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		_ = fsys.Remove(temp) // it gives the space back; what is left is removed on the next open
		return err
	}
	if err := fault.at(AfterRename); err != nil {
		return err
	}
	if err := fsys.SyncDir(path.Dir(name)); err != nil {
		return err
	}
	return fault.at(AfterReplaceSync)
}

func writeTemp(fsys FS, temp string, fault Fault, write func(io.Writer) error) (err error) {
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownPerm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(&tornWriter{f, fault, false}, 64<<10)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := fault.at(AfterTempWrite); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return fault.at(AfterTempSync)
}

// tornWriter lets a test cut the first write in half.
type tornWriter struct {
	f     File
	fault Fault
	torn  bool
}

func (t *tornWriter) Write(p []byte) (int, error) {
	if t.fault == nil || t.torn {
		return t.f.Write(p)
	}
	t.torn = true
	n, err := t.f.Write(p[:len(p)/2])
	if err == nil {
		err = t.fault(TornTemp)
	}
	if err != nil {
		return n, err
	}
	m, err := t.f.Write(p[n:])
	return n + m, err
}

// RemoveTemps removes what replacements that were cut off have left in a folder.
func RemoveTemps(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), TempSuffix) && !e.IsDir() {
			if err := fsys.Remove(path.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// MkdirAll makes a folder and those above it; each new name is durable when it returns.
func MkdirAll(fsys FS, dir string) error {
	if dir == "." || dir == "" {
		return nil
	}
	info, err := fsys.Lstat(dir)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("not a folder")}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := path.Dir(dir)
	if err := MkdirAll(fsys, parent); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(parent)
}

const asideSuffix = ".in-the-way"

// Clear moves aside whatever keeps a file from being put under a name: something else than a folder above it, or a
// folder where the file belongs. The folders above are made if they are missing.
func Clear(fsys FS, name string) error {
	parts := strings.Split(name, "/")
	for i := range parts {
		at, folder := strings.Join(parts[:i+1], "/"), i < len(parts)-1
		info, err := fsys.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		if info.IsDir() == folder {
			continue
		}
		if info.IsDir() {
			err = fsys.Rename(at, at+asideSuffix)
		} else {
			err = fsys.Remove(at)
		}
		if err != nil {
			return err
		}
	}
	return MkdirAll(fsys, path.Dir(name))
}

// Folders lists the folders in a folder by name, if their names are wanted. A file in such a place is an error; a missing folder is not.
func Folders(fsys FS, dir string, wanted func(string) bool) (names []string, err error) {
	not := errors.New("not a folder")
	if info, err := fsys.Lstat(dir); err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: dir, Err: not}
	}
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		switch {
		case !wanted(e.Name()):
		case !e.IsDir():
			return nil, &fs.PathError{Op: "read", Path: path.Join(dir, e.Name()), Err: not}
		default:
			names = append(names, e.Name())
		}
	}
	return names, err
}

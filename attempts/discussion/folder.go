package discussion

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"relay/attempts/internal/durable"
)

// folder is the ledger's files in one checkout. Those that write there wait for each other.
type folder struct {
	fsys  durable.FS
	fault durable.Fault
}

// Listed is a file of the ledger.
type Listed struct {
	Path  string // below the top folder, with slashes
	Entry *Entry // nil when it cannot be read
	Err   error  // why it cannot

	document *document
	stamp    durable.Stamp
}

// newest reads so many files, the last by their names, which begin with the day of their entry, and sorts them as List does.
func (d folder) newest(most int) (list []Listed, err error) {
	there, err := d.check()
	if err != nil || !there {
		return nil, err
	}
	files, err := d.fsys.ReadDir(Folder)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f fs.DirEntry) bool {
		ext := path.Ext(f.Name())
		return ext != ".yaml" && ext != ".yml" || strings.HasPrefix(f.Name(), ".") || f.IsDir()
	})
	for _, f := range files[max(len(files)-most, 0):] {
		found := d.read(path.Join(Folder, f.Name()))
		if !errors.Is(found.Err, fs.ErrNotExist) {
			list = append(list, found)
		}
	}
	slices.SortStableFunc(list, func(x, y Listed) int {
		return cmp.Or(cmp.Compare(x.nanos(), y.nanos()), cmp.Compare(x.Path, y.Path))
	})
	return list, nil
}

func (l Listed) nanos() int64 {
	if l.Entry == nil {
		return 0
	}
	at, ok := l.Entry.CreatedAt()
	if !ok {
		return 1
	}
	return at.UnixNano()
}

// check reports whether there are entries. A link in place of a folder is an error: it could lead anywhere.
func (d folder) check() (there bool, err error) {
	for _, folder := range []string{TopFolder, Folder} {
		info, err := d.fsys.Lstat(folder)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		case info.Mode()&fs.ModeSymlink != 0:
			return false, fmt.Errorf("%s is a link: discussions need a folder of that name", folder)
		case !info.IsDir():
			return false, fmt.Errorf("%s is not a folder: discussions need one of that name", folder)
		}
	}
	return true, nil
}

func (d folder) read(name string) (found Listed) {
	found.Path = name
	f, err := durable.Regular(d.fsys, name, os.O_RDONLY)
	if err != nil {
		found.Err = unwrapPath(err)
		return found
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		found.Err = unwrapPath(err)
		return found
	}
	if info, err := f.Stat(); err == nil {
		found.stamp = durable.StampOf(info)
	}
	if found.document, found.Err = parse(text); found.Err != nil {
		return found
	}
	found.Entry = found.document.entry()
	found.Entry.ID = cmp.Or(found.Entry.ID, strings.TrimSuffix(path.Base(name), path.Ext(name)))
	return found
}

// unwrapPath leaves out of an error which file it is about.
func unwrapPath(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return of.Err
	}
	return err
}

// LockFile is there while somebody writes; TempSuffix ends the name of what is being written.
const (
	LockFile   = TopFolder + "/.lock"
	TempSuffix = durable.TempSuffix
)

// locked calls f with all entries while no other relay writes. The folders are made if they are missing.
func (d folder) locked(f func(list []Listed) error) error {
	if _, err := d.check(); err != nil {
		return err
	}
	if err := durable.MkdirIgnored(d.fsys, TopFolder); err != nil {
		return err
	}
	if err := durable.MkdirAll(d.fsys, Folder); err != nil {
		return err
	}
	unlock, err := durable.WaitNewLock(d.fsys, LockFile)
	if err != nil {
		return err
	}
	defer unlock()
	defer func() { _ = d.fsys.Remove(LockFile) }() // a system that cannot remove open files keeps it
	if err := durable.RemoveTemps(d.fsys, Folder); err != nil {
		return err
	}
	list, err := d.newest(math.MaxInt)
	if err != nil {
		return err
	}
	return f(list)
}

// create writes a new entry under an id that follows from its topic and no other entry has, and returns that id.
func (d folder) create(e *Entry, at time.Time, taken []Listed) (id string, err error) {
	first := at.UTC().Format(time.DateOnly) + "_" + slug(e.Topic)
	for n := 1; ; n++ {
		if e.ID = first; n > 1 {
			e.ID = fmt.Sprintf("%s-%d", first, n)
		}
		name := path.Join(Folder, e.ID+".yaml")
		used, err := d.used(name)
		if err != nil {
			return "", err
		}
		if used || slices.ContainsFunc(taken, func(t Listed) bool { return t.Entry != nil && t.Entry.ID == e.ID }) {
			continue
		}
		text, err := encode(durable.Node(reflect.ValueOf(e), textNode))
		if err != nil {
			return "", err
		}
		return e.ID, d.replace(name, text, nil)
	}
}

// used reports whether something stands under the name of a file. An empty file does not count: it is of a writer that was cut short.
func (d folder) used(name string) (bool, error) {
	for _, name := range []string{name, strings.TrimSuffix(name, ".yaml") + ".yml"} {
		info, err := d.fsys.Lstat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		if err == nil && (!info.Mode().IsRegular() || info.Size() > 0) {
			return true, nil
		}
	}
	return false, nil
}

// update replaces a file that was read, unless a program that does not know the lock has changed it meanwhile.
func (d folder) update(from Listed, text []byte) error {
	return d.replace(from.Path, text, func() error {
		info, err := d.fsys.Lstat(from.Path)
		if err == nil && !from.stamp.Same(durable.StampOf(info)) {
			err = fmt.Errorf("%s was changed at the same moment", from.Path)
		}
		return err
	})
}

func (d folder) replace(name string, text []byte, before func() error) error {
	content := durable.Text(text)
	content.Before = before
	return durable.Replace(d.fsys, name, d.fault, content)
}

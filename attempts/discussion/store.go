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

// Options say who uses a ledger.
type Options struct {
	By    string                   // who opens discussions, marks and links: a person, relay, or an agent
	Now   func() time.Time         // required
	Clean func(text string) string // takes secrets out of texts; nil: texts stay
	Fault func(point string) error // called at each point that a crash can cut; nil in use
}

// Ledger is the discussion ledger of one checkout. It reads what is there whenever it is asked, so that several processes can use it at
// once; those that write wait for each other.
type Ledger struct {
	fsys durable.FS
	o    Options
}

// Open opens the top folder of a checkout. Nothing is made there before the first entry is written; the folder .ledger, if there is none,
// is then made so that git ignores it. One that is there is used as it is, unless it is a link.
func Open(top string, o Options) (*Ledger, error) {
	fsys, err := durable.OpenDisk(top)
	if err != nil {
		return nil, err
	}
	return NewLedger(fsys, o), nil
}

// NewLedger is Open of a checkout whose top folder is open already. Closing the ledger closes it.
func NewLedger(fsys durable.FS, o Options) *Ledger { return &Ledger{fsys, o} }

// Close gives the checkout back.
func (l *Ledger) Close() error { return l.fsys.Close() }

// Listed is a file of the ledger.
type Listed struct {
	Path  string // below the top folder, with slashes
	Entry *Entry // nil when it cannot be read
	Err   error  // why it cannot

	document *document
	stamp    durable.Stamp
}

// List reads all entries, the oldest first; files that cannot be read come before them. Files that are not YAML by their name belong to
// others, and are left out. Without a ledger there are none.
func (l *Ledger) List() ([]Listed, error) { return l.Newest(math.MaxInt) }

// Newest is List of so many files, the last by their names, which begin with the day of their entry.
func (l *Ledger) Newest(most int) (list []Listed, err error) {
	there, err := l.check()
	if err != nil || !there {
		return nil, err
	}
	files, err := l.fsys.ReadDir(Folder)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f fs.DirEntry) bool {
		ext := path.Ext(f.Name())
		return ext != ".yaml" && ext != ".yml" || strings.HasPrefix(f.Name(), ".") || f.IsDir()
	})
	for _, f := range files[max(len(files)-most, 0):] {
		found := l.read(path.Join(Folder, f.Name()))
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
func (l *Ledger) check() (there bool, err error) {
	for _, folder := range []string{TopFolder, Folder} {
		info, err := l.fsys.Lstat(folder)
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

func (l *Ledger) read(name string) (found Listed) {
	found.Path = name
	f, err := durable.Regular(l.fsys, name, os.O_RDONLY)
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
	if found.Entry.ID == "" {
		found.Entry.ID = strings.TrimSuffix(path.Base(name), path.Ext(name))
	}
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

// locked calls f while no other relay writes. The folders are made if they are missing.
func (l *Ledger) locked(f func() error) error {
	if _, err := l.check(); err != nil {
		return err
	}
	if err := durable.MkdirIgnored(l.fsys, TopFolder); err != nil {
		return err
	}
	if err := durable.MkdirAll(l.fsys, Folder); err != nil {
		return err
	}
	unlock, err := durable.WaitNewLock(l.fsys, LockFile)
	if err != nil {
		return err
	}
	defer unlock()
	defer func() { _ = l.fsys.Remove(LockFile) }() // a system that cannot remove open files keeps it
	if err := durable.RemoveTemps(l.fsys, Folder); err != nil {
		return err
	}
	return f()
}

// create writes a new entry under an id that follows from its topic and no other entry has, and returns that id.
func (l *Ledger) create(e *Entry, at time.Time, taken []Listed) (id string, err error) {
	first := at.UTC().Format(time.DateOnly) + "_" + slug(e.Topic)
	for n := 1; ; n++ {
		if e.ID = first; n > 1 {
			e.ID = fmt.Sprintf("%s-%d", first, n)
		}
		name := path.Join(Folder, e.ID+".yaml")
		used, err := l.used(name)
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
		return e.ID, l.replace(name, text, nil)
	}
}

// used reports whether something stands under the name of a file. An empty file does not count: it is of a writer that was cut short.
func (l *Ledger) used(name string) (bool, error) {
	for _, name := range []string{name, strings.TrimSuffix(name, ".yaml") + ".yml"} {
		info, err := l.fsys.Lstat(name)
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
func (l *Ledger) update(from Listed, text []byte) error {
	return l.replace(from.Path, text, func() error {
		info, err := l.fsys.Lstat(from.Path)
		if err == nil && !from.stamp.Same(durable.StampOf(info)) {
			err = fmt.Errorf("%s was changed at the same moment", from.Path)
		}
		return err
	})
}

func (l *Ledger) replace(name string, text []byte, before func() error) error {
	content := durable.Text(text)
	content.Before = before
	return durable.Replace(l.fsys, name, l.o.Fault, content)
}

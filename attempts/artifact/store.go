package artifact

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts/internal/durable"
)

// Folders below the top folder of a checkout: that of everything, and that of the folders of sessions.
const (
	TopFolder = "thoughts"
	Folder    = TopFolder + "/shared/handoffs"
)

// Writer writes artifacts of one checkout.
type Writer struct {
	fsys  durable.FS
	valid *Validator
	fault durable.Fault
}

// Open opens the top folder of a checkout for writing. Nothing is made there before the first artifact is written; the folder thoughts, if
// there is none, is then made so that git ignores it. One that is there is used as it is.
// fault is called at each point that a crash can cut; nil in use.
func Open(top string, fault func(point string) error) (*Writer, error) {
	fsys, err := durable.OpenDisk(top)
	if err != nil {
		return nil, err
	}
	return NewWriter(fsys, fault)
}

// NewWriter is Open for a disk that is open already; the writer closes it.
func NewWriter(fsys durable.FS, fault durable.Fault) (*Writer, error) {
	valid, err := NewValidator()
	if err != nil {
		return nil, errors.Join(err, fsys.Close())
	}
	return &Writer{fsys: fsys, valid: valid, fault: fault}, nil
}

// Close gives the checkout back.
func (w *Writer) Close() error { return w.fsys.Close() }

// Encode returns the text of an artifact's file. See [Validator.Encode].
func (w *Writer) Encode(a *Artifact) ([]byte, error) { return w.valid.Encode(a) }

// Name is the path of an artifact's file, as Put writes it: with slashes, below the top folder.
func Name(a *Artifact, title string) string {
	return path.Join(Folder, Slug(a.Session), fileName(a, title))
}

// Put writes an artifact under its name, and replaces what is there: the title has to be different for each artifact of a minute. The file
// gets the time of the artifact as its own.
func (w *Writer) Put(a *Artifact, title string) (name string, err error) {
	text, err := w.begin(a, title)
	if err != nil {
		return "", err
	}
	name = Name(a, title)
	return name, w.replace(name, text, a)
}

// Add writes an artifact under a name that no file has yet. One that is there already with the same text is not written again: added is
// false then. The file gets the time of the artifact as its own.
func (w *Writer) Add(a *Artifact, title string) (name string, added bool, err error) {
	text, err := w.begin(a, title)
	if err != nil {
		return "", false, err
	}
	for n := 1; ; n++ {
		numbered := Slug(title)
		if n > 1 {
			numbered = fmt.Sprintf("%s-%d", strings.TrimRight(numbered[:min(len(numbered), maxSlug-5)], "-."), n)
		}
		name = Name(a, numbered)
		switch err := w.claim(name); {
		case errors.Is(err, fs.ErrExist):
			if there, err := w.read(name, len(text)); err == nil && bytes.Equal(there, text) {
				return name, false, nil
			}
			continue
		case err != nil:
			return "", false, err
		}
		if err := w.replace(name, text, a); err != nil {
			return "", false, errors.Join(err, w.fsys.Remove(name))
		}
		return name, true, nil
	}
}

// Holds reports whether there is a file under the name that Put gives an artifact, and whether it says the same. It fails for an artifact
// that Put refuses.
func (w *Writer) Holds(a *Artifact, title string) (there, same bool, err error) {
	text, err := w.Encode(a)
	if err != nil {
		return false, false, err
	}
	got, err := w.read(Name(a, title), len(text))
	return err == nil, err == nil && bytes.Equal(got, text), nil
}

// begin makes the session fit for a folder, makes that, and returns the text of the file.
func (w *Writer) begin(a *Artifact, title string) ([]byte, error) {
	a.Session = Slug(a.Session)
	text, err := w.Encode(a)
	if err != nil {
		return nil, err
	}
	return text, w.prepare(path.Dir(Name(a, title)))
}

// claim makes an empty file under a name. It fails with [fs.ErrExist] when there is something.
func (w *Writer) claim(name string) error {
	f, err := w.fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// read returns what is in a file, no more of it than one byte behind most.
func (w *Writer) read(name string, most int) ([]byte, error) {
	f, err := durable.Regular(w.fsys, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(most)+1))
}

func (w *Writer) replace(name string, text []byte, a *Artifact) error {
	at, ok := a.At()
	if !ok {
		return fmt.Errorf("%q is not a date", a.Date) // Encode has checked it
	}
	content := durable.Text(text)
	content.Modified = at
	return durable.Replace(w.fsys, name, w.fault, content)
}

// prepare makes the folder of a session. The .gitignore of a new top folder comes first: a folder without one is the user's.
func (w *Writer) prepare(dir string) error {
	if err := durable.MkdirIgnored(w.fsys, TopFolder); err != nil {
		return err
	}
	if info, err := w.fsys.Lstat(TopFolder); err == nil && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is not a folder: artifacts need one of that name", TopFolder)
	}
	return durable.MkdirAll(w.fsys, dir)
}

// Listed is a file that List has found.
type Listed struct {
	Path     string // absolute
	Artifact *Artifact
	Err      error // why it cannot be read; Artifact is nil then
}

// List reads all artifacts of a checkout, whose top folder is given, the oldest first. Files that are no artifacts come at the beginning.
func List(top string) (list []Listed, err error) {
	dir := filepath.Join(top, filepath.FromSlash(Folder))
	sessions, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		files, err := os.ReadDir(filepath.Join(dir, session.Name()))
		if err != nil { // no folder
			continue
		}
		for _, f := range files {
			if ext := filepath.Ext(f.Name()); ext != ".yaml" && ext != ".yml" {
				continue
			}
			l := Listed{Path: filepath.Join(dir, session.Name(), f.Name())}
			l.Artifact, _, l.Err = ReadFile(l.Path)
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(x, y Listed) int {
		return cmp.Or(x.at().Compare(y.at()), cmp.Compare(filepath.Base(x.Path), filepath.Base(y.Path)))
	})
	return list, nil
}

func (l Listed) at() (at time.Time) {
	if l.Artifact != nil {
		at, _ = l.Artifact.At()
	}
	return at
}

// Package playlist reads playlist.yml, a list of epics that run one after the other, and writes their states and times into it, as other
// programs do. Only the ledgers of the epics decide.
package playlist

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relay/epic"
	"relay/epic/plaintext"
)

// MaxSize is the size, in bytes, of the largest playlist that is read; MaxEpics is how many epics it may have.
const (
	MaxSize  = 1 << 20
	MaxEpics = 1000
)

// Status is how far a list or one of its epics is.
type Status string

// The states of a list and of its epics.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// List is a playlist, as far as relay reads it.
type List struct {
	Path              string // of the file, as the caller gave it
	Name              string // the file's own name, when it has no name: of its own
	Status            Status
	StartedAt         time.Time // its zero value when the file has none in RFC 3339
	ContinueOnFailure bool      // the next epic begins also when one does not complete
	Epics             []Entry

	Warnings epic.Problems // what the file has and relay does not use
}

// Entry is one epic of a list.
type Entry struct {
	File   string // as it stands in the list: a path from the folder of the playlist
	Path   string // of the file, joined with that folder
	Status Status
	Line   int // in the playlist, from 1
}

// Read reads the playlist at path, in the repository whose folder is root. It fails with epic.Problems, all at once, when the
// list has mistakes, or names files that are missing, outside the repository or the same; with another error when the file
// cannot be read.
func Read(root, path string) (*List, error) {
	name := plaintext.Relative(root, path)
	src, err := plaintext.ReadFile(path, MaxSize)
	if err != nil {
		return nil, err
	}
	l, err := Parse(name, src)
	if err != nil {
		return nil, err
	}
	l.Path = path
	l.Name = cmp.Or(l.Name, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	var problems epic.Problems
	seen := map[string]int{}
	for i := range l.Epics {
		e := &l.Epics[i]
		e.Path = filepath.Join(filepath.Dir(path), filepath.FromSlash(e.File))
		fault, hint := fileFault(root, e, seen)
		if fault != "" {
			problems = append(problems, epic.Problem{File: name, Line: e.Line, Column: 1, Message: fault, Hint: hint})
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return l, nil
}

// fileFault reports what is wrong with the file of an epic, and how to put it right; both empty when nothing is. seen has the
// lines of the files before it, by their real path.
func fileFault(root string, e *Entry, seen map[string]int) (fault, hint string) {
	if !inside(root, e.Path) {
		return fmt.Sprintf("epic %q leaves the repository", e.File), "name a file of this repository, relative to the folder of the playlist"
	}
	real, err := filepath.EvalSymlinks(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("epic %q: the file does not exist", e.File), "paths are relative to the folder of the playlist"
	}
	if err != nil {
		return fmt.Sprintf("epic %q: %v", e.File, err), ""
	}
	base, err := filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Sprintf("epic %q: %v", e.File, err), ""
	}
	if !inside(base, real) {
		return fmt.Sprintf("epic %q is a link out of the repository", e.File), "put the file itself into the repository"
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return fmt.Sprintf("epic %q: %v", e.File, err), ""
	case !info.Mode().IsRegular():
		return fmt.Sprintf("epic %q is not a file", e.File), "name the epic.yml itself"
	case seen[real] > 0:
		return fmt.Sprintf("epic %q is the file of line %d under another name", e.File, seen[real]), "name each file once"
	}
	seen[real] = e.Line
	return "", ""
}

// inside reports whether a path is below a folder, by its text alone.
func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

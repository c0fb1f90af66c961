// Package learn shows what the agents of an epic have learned, and proposes or makes what of it is to stand in AGENTS.md.
package learn

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/learnings"
)

// Finding is what an epic's agents have learned so far, and the files that would be changed for it.
type Finding struct {
	Completed, Tasks int
	Groups           []learnings.Group
	Files            []File
	Problem          error // of a file that cannot be changed; nil: none
}

// File is an AGENTS.md with what is to be added to it.
type File struct {
	Name  string            // relative to the repository, with slashes
	Added []learnings.Group // in the order of their bullets
	New   bool              // there is none yet

	path          string
	mode          fs.FileMode
	before, after string
}

// Find gathers the learnings of an epic, and what they would change in the checkout. It writes nothing.
func Find(p *project.Project, pl *project.Plan, l *attempts.Ledger) Finding {
	source := learnings.Of(pl.Epic, l)
	source.Redact = p.Redactor().Text
	found := Finding{Tasks: len(pl.Epic.Tasks)}
	for i := range pl.Epic.Tasks {
		if source.Record(pl.Epic.Tasks[i].ID).Completed {
			found.Completed++
		}
	}
	found.Groups = learnings.Gather(source)
	byFile := map[string][]learnings.Group{}
	for _, g := range found.Groups {
		if g.Worth() {
			name := nearest(p.Root, g.Folder())
			byFile[name] = append(byFile[name], g)
		}
	}
	for name, groups := range byFile {
		f, err := open(p.Root, name)
		if err != nil {
			found.Problem = err
			continue
		}
		if f.after, f.Added = learnings.Amend(f.before, groups); len(f.Added) > 0 {
			found.Files = append(found.Files, f)
		}
	}
	slices.SortFunc(found.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// Complete reports whether every task of the epic is completed.
func (f *Finding) Complete() bool { return f.Completed == f.Tasks }

// Added counts the learnings that are to be added.
func (f *Finding) Added() (n int) {
	for i := range f.Files {
		n += len(f.Files[i].Added)
	}
	return n
}

// nearest returns the AGENTS.md of the deepest folder on the way to one that has it, or that of the repository's top.
// Folders that are links lead elsewhere, and are not followed.
func nearest(root, folder string) string {
	name, at := learnings.FileName, "."
	if folder == "." {
		return name
	}
	for segment := range strings.SplitSeq(folder, "/") {
		at = path.Join(at, segment)
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(at)))
		if err != nil || !info.IsDir() {
			break
		}
		if file := path.Join(at, learnings.FileName); project.Exists(filepath.Join(root, filepath.FromSlash(file))) {
			name = file
		}
	}
	return name
}

// open reads an AGENTS.md. It fails when that is no regular file, or one that its user may not write.
func open(root, name string) (File, error) {
	f := File{Name: name, path: filepath.Join(root, filepath.FromSlash(name)), mode: 0o644}
	info, err := os.Lstat(f.path)
	switch {
	case os.IsNotExist(err):
		f.New = true
		return f, nil
	case err != nil:
		return f, err
	case info.Mode()&fs.ModeSymlink != 0:
		return f, &exit.Hinted{Err: fmt.Errorf("%s is a link: relay adds nothing to it", name), Hint: "make it a file, or write the learnings where it leads yourself"}
	case !info.Mode().IsRegular():
		return f, &exit.Hinted{Err: fmt.Errorf("%s is not a file: relay adds nothing to it", name), Hint: "move it away, then relay learn makes a file"}
	case info.Mode().Perm()&0o200 == 0:
		return f, &exit.Hinted{Err: fmt.Errorf("%s is read-only: relay adds nothing to it", name), Hint: "chmod u+w " + name}
	}
	content, err := project.ReadFile(f.path, project.MaxScript)
	f.before, f.mode = string(content), info.Mode().Perm()
	return f, err
}

// Patch returns what would be added to the file as a unified diff.
func (f *File) Patch() string {
	old := "a/" + f.Name
	if f.New {
		old = "/dev/null"
	}
	return udiff.Unified(old, "b/"+f.Name, f.before, f.after)
}

// Apply writes all files, each at once. It writes none when one of them cannot be changed. Nothing is committed.
func (f *Finding) Apply() error {
	if f.Problem != nil {
		return f.Problem
	}
	for i := range f.Files {
		one := &f.Files[i]
		now, err := os.ReadFile(one.path)
		if err == nil && string(now) != one.before || err != nil && !(one.New && os.IsNotExist(err)) {
			return &exit.Hinted{Err: fmt.Errorf("%s was changed meanwhile: nothing has been added to it", one.Name), Hint: "relay learn --apply"}
		}
		if err := project.ReplaceWith(one.path, one.mode, writer(one.after)); err != nil {
			return err
		}
	}
	return nil
}

package trees

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor"
)

// addChanged stages what was changed or removed of what is tracked. What stands in a file's place and git does not take
// (a pipe) is noted.
func (w *Tree) addChanged(ctx context.Context) error {
	w.untaken, w.refused = nil, nil
	_, refused := w.git(ctx, nil, "add", "--sparse", "--update")
	if refused == nil {
		return nil
	}
	changed := func() ([]string, error) {
		out, err := w.git(ctx, nil, "diff-files", "--name-only", "--ignore-submodules=all", "-z")
		return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(p string) bool { return p == "" }), err
	}
	halved := false // the list has no submodules
	still, err := w.addAllBut(ctx, refused, changed, func(paths []string) error {
		if halved {
			return w.add(ctx, paths, "--update", "--ignore-errors")
		}
		halved = true
		_, err := w.git(ctx, nil, "add", "--sparse", "--update", "--ignore-errors")
		return err
	})
	w.untaken = still
	return err
}

// addFresh stages the new files that takes reports, or all. What git does not take (a file that cannot be read, a name
// that it refuses) is left where it is, and so is a repository: of that a commit would have the name only.
func (w *Tree) addFresh(ctx context.Context, takes func(path string) bool) error {
	list := func() ([]string, error) {
		fresh, err := w.untracked(ctx)
		if takes != nil {
			fresh = slices.DeleteFunc(fresh, func(p string) bool { return !strings.HasSuffix(p, "/") && !takes(p) })
		}
		return fresh, err
	}
	fresh, err := list()
	if err != nil {
		return err
	}
	inner := func(p string) bool { return strings.HasSuffix(p, "/") }
	for _, p := range fresh {
		if inner(p) {
			w.Leave(p)
		}
	}
	if fresh = slices.DeleteFunc(fresh, inner); len(fresh) == 0 {
		return nil
	}
	refused := w.add(ctx, fresh)
	if refused == nil {
		return nil
	}
	still, err := w.addAllBut(ctx, refused, list, func(paths []string) error { return w.add(ctx, paths, "--ignore-errors") })
	if err == nil {
		w.Leave(still...)
	}
	return err
}

func (w *Tree) add(ctx context.Context, paths []string, options ...string) error {
	args := append([]string{"add", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"}, options...)
	_, err := w.git(ctx, strings.NewReader(strings.Join(paths, "\x00")), args...)
	return err
}

// addAllBut has git add what is left of a list that it has refused as a whole, and returns what it does not take. When
// it is the repository that takes nothing (a full disk, for one), the refusal is the error.
func (w *Tree) addAllBut(ctx context.Context, refused error, list func() ([]string, error), add func([]string) error) (still []string, err error) {
	paths, err := list()
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	w.open(paths)
	if w.addEach(ctx, paths, add) != nil {
		return nil, refused
	}
	if still, err = list(); err != nil {
		return nil, errors.Join(refused, err)
	}
	if w.probe(ctx, still) != nil {
		return nil, refused
	}
	return slices.DeleteFunc(still, func(p string) bool { return w.refused[p] != nil }), nil
}

// addEach has git add what it takes of a list. A file that a filter or an encoding refuses ends git at once: the list is
// halved until that one is alone.
func (w *Tree) addEach(ctx context.Context, paths []string, add func([]string) error) error {
	err := add(paths)
	var said *reanchor.GitError
	switch {
	case err == nil || errors.As(err, &said) && said.Code == 1: // 1: not all of them
		return nil
	case said == nil || said.Code != gitDied || len(paths) == 0 || ctx.Err() != nil || len(w.refused) == refusedMost || w.probe(ctx, paths) != nil:
		return err
	case len(paths) > 1:
		half := len(paths) / 2
		return errors.Join(w.addEach(ctx, paths[:half], add), w.addEach(ctx, paths[half:], add))
	}
	if w.refused == nil {
		w.refused = make(map[string]error)
	}
	w.refused[paths[0]] = err
	return nil
}

const (
	gitDied     = 128 // git's exit status then
	refusedMost = 100 // files of one attempt that git may die of
)

// probe finds out whether git can write at all, by some of the files that can be read.
func (w *Tree) probe(ctx context.Context, paths []string) error {
	args := []string{"hash-object", "-w", "--no-filters", "--"}
	for _, p := range paths {
		if len(args) < probes && w.readable(p) {
			args = append(args, p)
		}
	}
	_, err := w.git(ctx, nil, args...)
	return err
}

// probes bounds how many files are written to see whether there is room: a command line is not endless.
const probes = 20

// open lets relay read files that an agent has protected against that.
func (w *Tree) open(paths []string) {
	for _, p := range paths {
		full := filepath.Join(w.Repo.Root(), filepath.FromSlash(p))
		if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o400 == 0 {
			_ = os.Chmod(full, info.Mode().Perm()|0o400) // not ours: then git does not take it
		}
	}
}

// readable reports whether a path is a file that can be read.
func (w *Tree) readable(p string) bool {
	full := filepath.Join(w.Repo.Root(), filepath.FromSlash(p))
	if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(full)
	if err == nil {
		err = file.Close()
	}
	return err == nil
}

// Untaken lists tracked paths at which an attempt has left what git does not take: a commit would have what was there
// before.
func (w *Tree) Untaken() []string { return w.untaken }

// files returns those of paths at which a file stands: it is in no commit.
func (w *Tree) files(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		info, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(p)))
		return errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular()
	})
}

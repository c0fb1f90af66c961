package slot

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"relay/reanchor/git"
)

// ErrGone means that a slot's folder is not there. That a file is missing in it is another error: the attempt's work may be there.
var ErrGone = errors.New("the slot is gone")

// Open returns slot name as an attempt has left it; its files stay as they are. It first
// restores the files that steer git there, so that an agent's settings do not affect relay's next steps. When the folder is gone, or
// something else stands in its place, the error is [ErrGone].
//
// A repository that is gone, or that git cannot read, is created again around the files, on branch at commit: remade reports
// that. Commits in it that were not fetched are lost then; their files stay.
func (p *Pool) Open(ctx context.Context, name, commit, branch string) (repo *git.Repo, remade bool, err error) {
	path, err := p.path(name)
	if err != nil {
		return nil, false, err
	}
	if !isDir(path) {
		return nil, false, ErrGone
	}
	a := acquisition{pool: p, name: name, path: path, commit: commit, branch: branch}
	repo = borrower(p.Repo, path)
	if !sound(repo.GitDir()) {
		return repo, true, a.rebuild(ctx)
	}
	if err := errors.Join(git.Unblock(repo), p.template.restore(ctx, repo.GitDir())); err != nil {
		return nil, false, err
	}
	return repo, false, a.mendHead(ctx, repo)
}

// sound reports whether a git folder is the one that relay has made: all of it is where it belongs, and nothing leads out
// of it.
func sound(dir string) bool {
	if !isDir(dir) || !isDir(filepath.Join(dir, "objects")) ||
		!isDir(filepath.Join(dir, "refs")) || fileText(filepath.Join(dir, slotMark)) == "" {
		return false
	}
	const damage = fs.ModeSymlink | fs.ModeDevice | fs.ModeCharDevice | fs.ModeIrregular // git has sockets of its own, and pipes go
	odd := false
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // git has just removed a lock of its own
			return nil
		case err != nil:
			return err
		case d.Type()&damage != 0:
			odd = true
			return fs.SkipAll
		case d.IsDir() && filepath.Dir(at) == filepath.Join(dir, "objects"):
			return fs.SkipDir
		}
		return nil
	})
	return err == nil && !odd
}

// rebuild makes a new repository for the slot and keeps its files.
func (a *acquisition) rebuild(ctx context.Context) error {
	a.pool.left.Delete(a.name)
	if err := a.renew(ctx, a.commit, ""); err != nil {
		return err
	}
	repo := borrower(a.pool.Repo, a.path)
	if a.branch != "" {
		if err := a.standOnBranch(ctx, repo); err != nil {
			return err
		}
	}
	_, err := repo.Run(ctx, writing("read-tree", a.commit))
	return err
}

// mendHead puts a slot whose HEAD or index cannot be read on its branch, at its commit when there is no such branch.
func (a *acquisition) mendHead(ctx context.Context, repo *git.Repo) error {
	if head, err := repo.Head(ctx); err != nil || head == "" {
		if err := a.standOnBranch(ctx, repo); err != nil {
			return err
		}
	}
	if git.Exists(filepath.Join(repo.GitDir(), "index")) {
		if _, err := repo.Run(ctx, git.Call{Args: []string{"ls-files", "--stage"}, Stdout: io.Discard}); err == nil {
			return nil
		}
	}
	for _, name := range []string{"index", "index.lock"} {
		if err := git.RemoveTree(filepath.Join(repo.GitDir(), name)); err != nil {
			return err
		}
	}
	_, err := repo.Run(ctx, writing("read-tree", "HEAD"))
	return err
}

// standOnBranch writes HEAD, and the branch when git cannot read it.
func (a *acquisition) standOnBranch(ctx context.Context, repo *git.Repo) error {
	head := filepath.Join(repo.GitDir(), "HEAD")
	if a.branch == "" {
		return replace(head, a.commit+"\n")
	}
	ref := "refs/heads/" + a.branch
	at, err := repo.Ref(ctx, ref)
	if err != nil || at == "" || !git.Has(ctx, repo, at) {
		path := filepath.Join(repo.GitDir(), filepath.FromSlash(ref))
		if err := errors.Join(makeParents(repo.GitDir(), path), git.RemoveTree(path+".lock")); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(a.commit+"\n"), 0o644); err != nil {
			return err
		}
	}
	return replace(head, "ref: "+ref+"\n")
}

// makeParents makes room for a file below a git folder, with the folders that it is in.
func makeParents(top, path string) error {
	if err := git.ClearPath(top, path); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(path), 0o755)
}

// replace writes a file, in place of whatever an agent has put there.
func replace(path, text string) error {
	return errors.Join(git.RemoveTree(path), os.WriteFile(path, []byte(text), 0o644))
}

package slot

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"relay/reanchor/git"
)

// acquisition is a slot on its way to a commit.
type acquisition struct {
	pool                       *Pool
	name, path, commit, branch string
}

// reuse brings a slot that relay left to the commit. The error is [ErrSpoiled] if it has to be rebuilt.
func (a *acquisition) reuse(ctx context.Context, s *state) (*git.Repo, error) {
	if !isDir(a.path) || !isDir(filepath.Join(a.path, ".git")) {
		return nil, ErrSpoiled
	}
	kept := filepath.Join(a.path, ".git", keptIndex)
	if sum, err := fileSum(kept); err != nil || sum != s.index {
		return nil, ErrSpoiled
	}
	if changed, err := a.attributesChange(ctx, s.commit); err != nil || changed {
		return nil, errors.Join(err, ErrSpoiled)
	}
	if err := a.renew(ctx, s.commit, kept); err != nil {
		return nil, err
	}
	// First what is there too much: attributes among it would have a say in what is checked out.
	inner, err := git.Sweep(a.path, s.mode)
	if err != nil {
		return nil, err
	}
	repo := borrower(a.pool.Repo, a.path)
	if _, err := repo.Run(ctx, writing("clean", "-ffdxq")); err != nil {
		return nil, err
	}
	if err := empty(inner); err != nil {
		return nil, err
	}
	if err := a.checkout(ctx, repo); err != nil {
		return nil, err
	}
	return repo, a.leave(s.mode)
}

// renew gives the slot a new repository whose HEAD is head and whose index is the one kept, "" for none. The old one is moved away first:
// what is cut short leaves no slot with half a repository, see renewing.
func (a *acquisition) renew(ctx context.Context, head, kept string) error {
	fresh, err := a.pool.folder.scratch("making-" + a.name)
	if err != nil {
		return err
	}
	if err := a.pool.template.create(ctx, fresh, head+"\n"); err != nil {
		return err
	}
	if kept != "" {
		if err := os.Rename(kept, filepath.Join(fresh, "index")); err != nil {
			return err
		}
	}
	own := filepath.Join(a.path, ".git")
	old, err := a.pool.folder.scratch(oldGit(a.name))
	if err != nil {
		return err
	}
	if err := os.Rename(own, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err := git.RemoveTree(own); err != nil { // it cannot be moved
			return err
		}
	}
	if err := errors.Join(os.Rename(fresh, own), git.RemoveTree(old)); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(fresh)) // unless another slot is being made
	return nil
}

// attributesChange reports whether another commit's attributes may have files written in another way that are the same
// in both: git would leave them as they are.
func (a *acquisition) attributesChange(ctx context.Context, from string) (bool, error) {
	if from == a.commit {
		return false, nil
	}
	call := writing("diff-tree", "-r", "--name-only", from, a.commit, "--", ":(glob)**/.gitattributes")
	call.Env = nil // the pattern is meant
	out, err := a.pool.Repo.Run(ctx, call)
	return len(out) > 0, err
}

// build makes the slot in place of whatever is there.
func (a *acquisition) build(ctx context.Context) (*git.Repo, error) {
	if err := a.pool.clear(a.name, a.path); err != nil && !errors.Is(err, ErrRest) {
		return nil, err
	}
	if err := os.MkdirAll(a.path, 0o777); err != nil {
		return nil, err
	}
	info, err := os.Lstat(a.path)
	if err != nil {
		return nil, err
	}
	if err := a.renew(ctx, a.commit, ""); err != nil {
		return nil, err
	}
	repo := borrower(a.pool.Repo, a.path)
	if err := a.checkout(ctx, repo); err != nil {
		return nil, err
	}
	return repo, a.leave(info.Mode().Perm())
}

// checkout writes the commit's files over whatever is there.
func (a *acquisition) checkout(ctx context.Context, repo *git.Repo) error {
	args := []string{"checkout", "--quiet", "--force", "--no-recurse-submodules"}
	if a.branch == "" {
		args = append(args, "--detach", a.commit, "--")
	} else {
		args = append(args, "--no-track", "-B", a.branch, a.commit, "--")
	}
	_, err := repo.Run(ctx, writing(args...))
	return err
}

// leave records how the slot is now.
func (a *acquisition) leave(mode os.FileMode) error {
	index, kept := filepath.Join(a.path, ".git", "index"), filepath.Join(a.path, ".git", keptIndex)
	if err := os.RemoveAll(kept); err != nil {
		return err
	}
	if err := os.Link(index, kept); err != nil {
		a.pool.left.Delete(a.name) // a file system without links: the slot is rebuilt each time
		return nil                 //nolint:nilerr // a file system without links: the slot is rebuilt each time
	}
	sum, err := fileSum(kept)
	if err != nil {
		return err
	}
	a.pool.left.Store(a.name, &state{commit: a.commit, mode: mode, index: sum})
	return nil
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// fileSum returns the checksum of a regular file.
func fileSum(path string) (sum [sha256.Size]byte, err error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = ErrSpoiled
	}
	if err != nil {
		return sum, err
	}
	content, err := os.ReadFile(path)
	return sha256.Sum256(content), err
}

// empty empties folders that are still there after a clean: where the commit has another repository's commit, git
// leaves alone what an agent has put.
func empty(folders []string) error {
	for _, folder := range folders {
		if !isDir(folder) {
			continue
		}
		if err := errors.Join(git.RemoveTree(folder), os.Mkdir(folder, 0o755)); err != nil {
			return err
		}
	}
	return nil
}

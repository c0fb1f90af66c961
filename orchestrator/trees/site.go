package trees

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor"
)

// site is a worktree on its way to a commit.
type site struct {
	yard                       *Yard
	name, path, commit, branch string
	plot                       *plot // how relay has left it, as far as that is known; for mend
	remade                     bool  // its own folder in the repository was gone
}

// ErrSpoiled means that a worktree is not as relay has left it.
var ErrSpoiled = errors.New("the worktree was damaged")

// reuse brings a worktree that relay has left before to the commit.
func (s *site) reuse(ctx context.Context, p *plot) (*reanchor.Git, error) {
	if info, err := os.Lstat(s.path); err != nil || !info.IsDir() {
		return nil, ErrSpoiled
	}
	if !slices.Equal(s.links(p.admin), p.links) || !slices.Equal(Contents(p.admin, ruleFiles), p.rules) {
		return nil, ErrSpoiled
	}
	if err := tidyAdmin(p.admin); err != nil {
		return nil, err
	}
	kept := filepath.Join(p.admin, keptIndex)
	if sum, err := fileSum(kept); err != nil || sum != p.index {
		return nil, ErrSpoiled
	}
	repo := s.yard.Repo.Worktree(s.path, p.admin)
	if changed, err := s.attributesChange(ctx, repo, p.commit); err != nil || changed {
		return nil, errors.Join(err, ErrSpoiled)
	}
	if err := os.Rename(kept, filepath.Join(p.admin, "index")); err != nil {
		return nil, err
	}
	// First what is there too much: attributes among it would have a say in what is checked out.
	inner, err := Sweep(s.path, p.mode)
	if err != nil {
		return nil, err
	}
	if _, err := repo.Run(ctx, s.yard.git("clean", "-ffdxq")); err != nil {
		return nil, err
	}
	if err := empty(inner); err != nil {
		return nil, err
	}
	if err := s.checkout(ctx, repo); err != nil {
		return nil, err
	}
	return repo, s.leave(p)
}

// attributesChange reports whether another commit's attributes may have files written in another way that are the same
// in both: git would leave them as they are.
func (s *site) attributesChange(ctx context.Context, repo *reanchor.Git, from string) (bool, error) {
	if from == s.commit {
		return false, nil
	}
	call := s.yard.git("diff-tree", "-r", "--name-only", from, s.commit, "--", ":(glob)**/.gitattributes")
	call.Env = nil // the pattern is meant
	out, err := repo.Run(ctx, call)
	return len(out) > 0, err
}

// build makes the worktree, in place of whatever is there.
func (s *site) build(ctx context.Context) (*reanchor.Git, error) {
	p := &plot{}
	err := s.yard.alone(ctx, func() error {
		if err := s.yard.clear(s.name, s.path); err != nil {
			return err
		}
		return s.add(ctx, p, s.path)
	})
	if err != nil {
		return nil, err
	}
	repo := s.yard.Repo.Worktree(s.path, p.admin)
	if err := s.checkout(ctx, repo); err != nil {
		return nil, err
	}
	info, err := os.Lstat(s.path)
	if err != nil {
		return nil, err
	}
	p.mode, p.links, p.rules = info.Mode().Perm(), s.links(p.admin), Contents(p.admin, ruleFiles)
	return repo, s.leave(p)
}

// add has git make a worktree without files at path. Call it alone.
func (s *site) add(ctx context.Context, p *plot, path string) error {
	if _, err := s.yard.Repo.Run(ctx, s.yard.git("worktree", "add", "--quiet", "--no-checkout", "--detach", "--", path, s.commit)); err != nil {
		return err
	}
	at, ok := strings.CutPrefix(Contents(path, []string{".git"})[0], "gitdir: ")
	if !ok {
		return ErrSpoiled
	}
	p.admin = filepath.Join(s.yard.admins(), filepath.Base(strings.TrimSpace(at)))
	return os.WriteFile(filepath.Join(p.admin, ownMark), []byte(s.path), 0o600)
}

// checkout writes the commit's files over whatever is there.
func (s *site) checkout(ctx context.Context, repo *reanchor.Git) error {
	args := []string{"checkout", "--quiet", "--force", "--no-recurse-submodules", "--ignore-other-worktrees"}
	if s.branch == "" {
		args = append(args, "--detach", s.commit, "--")
	} else {
		args = append(args, "--no-track", "-B", s.branch, s.commit, "--")
	}
	_, err := repo.Run(ctx, s.yard.git(args...))
	return err
}

// links is what the files say by which the worktree's folder and its own folder in the repository find each other.
func (s *site) links(admin string) []string {
	return append(Contents(s.path, []string{".git"}), Contents(admin, linkFiles)...)
}

// leave takes note of a worktree that is as it should be.
func (s *site) leave(p *plot) error {
	index, kept := filepath.Join(p.admin, "index"), filepath.Join(p.admin, keptIndex)
	if err := os.RemoveAll(kept); err != nil {
		return err
	}
	if err := os.Link(index, kept); err != nil {
		s.yard.forget(s.name) // a file system without links: it is made anew each time
		return nil
	}
	sum, err := fileSum(kept)
	if err != nil {
		return err
	}
	p.index, p.commit = sum, s.commit
	s.yard.remember(s.name, p)
	return nil
}

// fileSum is the checksum of a regular file.
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

// tidyAdmin removes from a worktree's own folder what does not belong there when nothing is under way.
func tidyAdmin(admin string) error {
	entries, err := os.ReadDir(admin)
	if err != nil {
		return err
	}
	known := adminFiles
	if _, err := os.Lstat(filepath.Join(admin, "reftable")); err == nil {
		known = append(slices.Clone(known), "refs") // a stand-in file is in it
	}
	for _, e := range entries {
		path := filepath.Join(admin, e.Name())
		plain := e.Type().IsRegular() || e.IsDir() && slices.Contains([]string{"info", "logs", "reftable", "refs"}, e.Name())
		if slices.Contains(known, e.Name()) && plain {
			continue
		}
		if err := RemoveTree(path); err != nil {
			return err
		}
	}
	return RemoveTree(filepath.Join(admin, "logs", "HEAD")) // what the next attempt leaves behind is told by its own
}

// empty empties folders that are still there after a clean: where the commit has another repository's commit, git
// leaves alone what an agent has put.
func empty(folders []string) error {
	for _, folder := range folders {
		if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
			continue
		}
		if err := errors.Join(RemoveTree(folder), os.Mkdir(folder, 0o755)); err != nil {
			return err
		}
	}
	return nil
}

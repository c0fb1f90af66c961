package slot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor/git"
)

// Undo restores the tracked files of slot name that protected covers to what its commit has, and returns those that
// differed. Everything else in it stays. If the index is not as relay left it, the tracked files are not known: the
// error is [ErrSpoiled]. Where a file system knows no links, nothing is looked at.
func (p *Pool) Undo(ctx context.Context, name string, protected func(path string) bool) ([]string, error) {
	s := p.state(name)
	if s == nil {
		return nil, nil
	}
	path, err := p.path(name)
	if err != nil {
		return nil, err
	}
	a := acquisition{pool: p, name: name, path: path, commit: s.commit}
	repo := borrower(p.Repo, path)
	kept := filepath.Join(repo.GitDir(), keptIndex)
	if sum, err := fileSum(kept); err != nil || sum != s.index || !sound(repo.GitDir()) {
		return nil, ErrSpoiled
	}
	if err := p.template.restore(ctx, repo.GitDir()); err != nil {
		return nil, err
	}
	touched, err := differing(ctx, repo, []string{"GIT_INDEX_FILE=" + kept}, "diff-files")
	touched = slices.DeleteFunc(touched, func(path string) bool { return !protected(path) })
	if err != nil || len(touched) == 0 {
		return nil, err
	}
	if err := a.renew(ctx, a.commit, kept); err != nil {
		return nil, err
	}
	different, err := differing(ctx, repo, nil, append([]string{"diff", "--no-ext-diff", "--no-textconv", "--"}, touched...)...)
	if err != nil {
		return nil, err
	}
	if _, err := repo.Run(ctx, writing(append([]string{"checkout", "--quiet", "--force", a.commit, "--"}, touched...)...)); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, ErrSpoiled)
	}
	return different, a.leave(info.Mode().Perm())
}

// Rewritten returns the tracked files of slot name that differ from its commit, and if there are any the new files that fresh covers. It
// returns nil where git's index of the slot was changed.
func Rewritten(ctx context.Context, p *Pool, name string, fresh func(path string) bool) ([]string, error) {
	s := p.state(name)
	if s == nil {
		return nil, nil
	}
	path, err := p.path(name)
	if err != nil {
		return nil, err
	}
	repo := borrower(p.Repo, path)
	kept := filepath.Join(repo.GitDir(), keptIndex)
	if sum, err := fileSum(kept); err != nil || sum != s.index || !sound(repo.GitDir()) || !git.IndexTouched(repo.Root(), kept) {
		return nil, nil //nolint:nilerr // what is tracked is not known
	}
	if err := p.template.restore(ctx, repo.GitDir()); err != nil {
		return nil, err
	}
	env := []string{"GIT_INDEX_FILE=" + kept, "GIT_OPTIONAL_LOCKS=0"}
	tracked, err := differing(ctx, repo, env, "diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "--diff-filter=M")
	if err != nil || len(tracked) == 0 {
		return nil, err
	}
	call := writing("ls-files", "--others", "--exclude-standard", "-z")
	call.Env = append(call.Env, env...)
	out, err := repo.Run(ctx, call)
	untracked := slices.DeleteFunc(strings.Split(string(out), "\x00"), func(path string) bool { return path == "" || !fresh(path) })
	return slices.Concat(tracked, untracked), err
}

// differing lists the tracked files that a git command finds different.
func differing(ctx context.Context, repo *git.Repo, env []string, args ...string) ([]string, error) {
	call := writing(slices.Insert(slices.Clone(args), 1, "--name-only", "-z")...)
	call.Env = append(call.Env, env...)
	out, err := repo.Run(ctx, call)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

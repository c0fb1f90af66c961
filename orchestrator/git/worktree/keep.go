package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"relay/reanchor/git"
)

// Keep points a ref at a commit, so that an attempt's work stays reachable whatever becomes of the branch.
func (w *Tree) Keep(ctx context.Context, ref, commit string) error {
	return point(ctx, w, ref, commit, func() ([]string, error) { return nil, nil })
}

// Salvage keeps a commit as Keep does, under a name that another ledger of the epic may have used. A commit that was there and
// is not part of the new one stays reachable as aside.
func (w *Tree) Salvage(ctx context.Context, ref, commit string) (aside string, err error) {
	err = point(ctx, w, ref, commit, func() ([]string, error) {
		was, err := homeOf(w).Ref(ctx, ref)
		switch {
		case err != nil: // it leads nowhere
			return nil, nil //nolint:nilerr // it leads nowhere
		case was == "":
			return []string{strings.Repeat("0", len(commit))}, nil
		}
		if held, err := w.Contains(ctx, was, commit); err != nil || held {
			return []string{was}, err
		}
		aside = git.MovedRefs + was
		_, err = homeOf(w).Run(ctx, git.Writing("update-ref", "-m", git.KeptMessage, "--", aside, was))
		return []string{was}, err
	})
	return aside, err
}

// point writes a ref, which must be at the value that expect returns, if it returns one.
func point(ctx context.Context, w *Tree, ref, commit string, expect func() ([]string, error)) error {
	release, err := git.LockRepository(ctx, homeOf(w))
	if err != nil {
		return err
	}
	for range keepTries { // git removes folders of refs that are empty, a neighbour's at this moment
		was, lookErr := expect()
		if err = lookErr; err != nil {
			break
		}
		if err = writeRef(ctx, w, ref, commit, was); err == nil || ctx.Err() != nil {
			break
		}
		if making := git.Unlatch(homeOf(w), ref); making != nil {
			err = errors.Join(err, making)
			break
		}
	}
	return errors.Join(err, release())
}

// writeRef writes a ref of the user's repository that must be at the value was, if one is given.
func writeRef(ctx context.Context, w *Tree, ref, commit string, was []string) error {
	if w.Bring != nil {
		return w.Bring(ctx, commit, ref)
	}
	_, err := w.git(ctx, nil, append([]string{"update-ref", "--no-deref", "-m", git.KeptMessage, "--", ref, commit}, was...)...)
	return err
}

// homeOf returns the repository in which work is kept.
func homeOf(w *Tree) *git.Repo {
	if w.Home != nil {
		return w.Home
	}
	return w.Repo
}

// Follow moves the branch of a slot to a commit that relay has made of what is on it.
func (w *Tree) Follow(ctx context.Context, commit string) error {
	_, err := w.git(ctx, nil, "update-ref", "-m", git.KeptMessage, "--", w.Branch, commit)
	return err
}

// keepTries bounds how often a ref is written that git could not write.
const keepTries = 3

// Detach takes a worktree off its branch, so that the branch can go. One that cannot be read is not on any.
func (w *Tree) Detach(ctx context.Context, commit string) {
	if commit != "" && w.Home != nil { // a slot has its refs in files
		_ = os.WriteFile(filepath.Join(w.Repo.GitDir(), git.HeadFile), []byte(commit+"\n"), 0o644)
	} else if commit != "" {
		_, _ = w.git(ctx, nil, "update-ref", "--no-deref", "--", "HEAD", commit)
	}
}

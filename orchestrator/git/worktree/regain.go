package worktree

import (
	"context"

	"relay/orchestrator/git/gitcmd"
)

// Regain begins an attempt's commits anew from base, with the files as they stand, when objects are missing of what it has
// committed or staged; it reports whether that was so.
func (w *Tree) Regain(ctx context.Context, base string) (bool, error) {
	gitcmd.DropEmpty(w.Repo)
	// --single-worktree, before --indexed-objects: what a neighbour has staged is not this attempt's.
	_, broken := w.git(ctx, nil, "rev-list", "--objects", "--single-worktree", "--indexed-objects", "--quiet", "HEAD", "--not", base, "--")
	if broken == nil || ctx.Err() != nil || gitcmd.Unasked(broken) != nil {
		return false, gitcmd.Unasked(broken)
	}
	if _, err := w.git(ctx, nil, "update-ref", "-m", gitcmd.KeptMessage, "--", "HEAD", base); err != nil {
		return false, err
	}
	_, err := w.git(ctx, nil, "read-tree", base) // without what it knew of the files: all are read again
	return err == nil, err
}

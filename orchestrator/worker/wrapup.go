package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/text"
)

// mostUnreachable bounds how many commits are kept that an attempt left behind.
const mostUnreachable = 20

// wrapUp keeps the work of an attempt that did not succeed, and leaves its slot on no branch and with nothing half
// done: all of it is in commits then.
func (w *slotAttempt) wrapUp(ctx context.Context, f *state) error {
	if f.Outcome != attempts.Success {
		if err := collectorIn(w.c).keepWork(ctx, w.a, w.p, f); err != nil {
			return err
		}
	}
	if w.gone {
		return nil
	}
	if err := w.keepUnreachable(ctx, f); err != nil {
		return err
	}
	if f.Outcome != attempts.Success {
		if err := gitcmd.Forget(w.c.tree.Repo); err != nil {
			return err
		}
	}
	if err := w.c.tree.Discard(f.left.untracked); err != nil {
		return err
	}
	// From here on HEAD says nothing of the agent: a run after a kill goes by the branch.
	if err := os.Remove(filepath.Join(w.p.folder, slotFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.c.tree.Detach(ctx, text.FirstOf(f.Head, w.a.Base))
	return slot.DropRefs(w.c.tree.Repo)
}

// keepUnreachable keeps commits that the agent made and left where nothing leads to them.
func (w *slotAttempt) keepUnreachable(ctx context.Context, f *state) error {
	tips, err := slot.Unreachable(ctx, w.c.tree.Repo, slot.UnreachableOptions{
		Branch: w.c.tree.Branch, Most: mostUnreachable, Rewritten: f.Outcome != attempts.Success, Kept: f.agentHead,
	})
	if err != nil || len(tips) == 0 {
		return err
	}
	folder := salvageRef(w.o.Epic.ID, w.a) + "-left/"
	for _, tip := range tips {
		if err := w.c.tree.Keep(ctx, folder+tip[:12], tip); err != nil {
			return err
		}
		f.Receipt.Kept = append(f.Receipt.Kept, folder+tip[:12])
	}
	what := fmt.Sprintf("%d commits that the agent left on no branch are kept", len(tips))
	if len(tips) == 1 {
		what = "a commit that the agent left on no branch is kept"
	}
	f.Note("salvage", what+" below "+folder)
	return nil
}

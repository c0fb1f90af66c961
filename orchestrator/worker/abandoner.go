package worker

import (
	"context"
	"errors"
	"path/filepath"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
)

// abandoner gives up attempts whose slots or commits git cannot read. What they have committed is kept, and their slots stay as they
// are, for a person.
type abandoner struct{ *slotEngine }

// abandon keeps what an attempt has committed that could not be brought to its end; its slot stays as it is, for a person.
func (d abandoner) abandon(ctx context.Context, a engine.Attempt, f *state) error {
	w, err := d.committed(ctx, a, f)
	if err != nil {
		return err
	}
	if err := collectorIn(w.c).keepWork(ctx, a, w.p, f); gitcmd.Refused(ctx, err) {
		f.Note("salvage", "not all of the work of this attempt could be kept: "+err.Error())
		return nil
	} else if err != nil {
		return err
	}
	return d.branches.Drop(ctx, d.branch(a), f.Head)
}

// committed finds what is committed of an attempt: in its slot, if git can read that, else on its branch.
func (d abandoner) committed(ctx context.Context, a engine.Attempt, f *state) (*slotAttempt, error) {
	if name, ok := filesOf(d.o.Dir, a).slot(); ok {
		stays := d.relative(filepath.Join(d.o.Worktree.Dir, name))
		f.Note("left", "what the agent left of "+a.Task.ID+" stays in "+stays+": git status there says more")
		if repo, _, err := d.pool.Open(ctx, name, a.Base, d.branch(a)); err == nil {
			w := d.attemptIn(name, repo, a)
			if head, err := w.c.tree.Head(ctx); err == nil && gitcmd.Has(ctx, repo, head) {
				f.Head = head
				return w, nil
			}
		}
	}
	head, err := d.home.Ref(ctx, "refs/heads/"+d.branch(a))
	if err == nil && gitcmd.Has(ctx, d.home, head) {
		f.Head = head
	}
	return d.attemptIn("", d.home, a), err
}

// contain ends an attempt that could not be carried out for what is wrong with its own checkout, branch or commits. It is
// tried again in another checkout, a few times (verdict.GateAfter), and no other task is held up. What is wrong with the
// user's repository, the disk or the ledger stays an error, which ends the run.
func (d abandoner) contain(ctx context.Context, a engine.Attempt, f state, cause error) (state, error) {
	if !d.ownFault(ctx, cause) {
		return f, cause
	}
	uninterruptedCtx, cancel := uninterrupted(ctx)
	defer cancel()
	return d.giveUp(uninterruptedCtx, a, f, cause)
}

// giveUp sets an attempt aside whose checkout or commits git cannot read. What is left of them stays.
func (d abandoner) giveUp(ctx context.Context, a engine.Attempt, f state, cause error) (state, error) {
	f.Fail(attempts.Environment, attempts.CLIError, "the checkout or the commits of this attempt were damaged: "+cause.Error())
	f.Head, f.Landed = "", ""
	gitcmd.DropEmpty(d.home) // else the next attempt could not commit the same
	return f, d.abandon(ctx, a, &f)
}

// unreadableSlotError says why the slot of an attempt of a killed run could not be opened again.
type unreadableSlotError struct{ err error }

func (e *unreadableSlotError) Error() string { return e.err.Error() }
func (e *unreadableSlotError) Unwrap() error { return e.err }

// ownFault reports whether an error can only concern one attempt: git was there and said no, or its slot could not be opened; the disk
// takes what is written, and the commits that all attempts begin from can be read.
func (d abandoner) ownFault(ctx context.Context, err error) bool {
	_, unreadable := errors.AsType[*unreadableSlotError](err)
	unreadable = unreadable && ctx.Err() == nil && gitcmd.Unasked(err) == nil
	if !unreadable && !gitcmd.Refused(ctx, err) || gitcmd.DiskFault(err) {
		return false
	}
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	return gitcmd.Whole(ctx, d.home, d.headGuard.Tip())
}

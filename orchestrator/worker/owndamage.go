package worker

import (
	"context"

	"relay/orchestrator/git/gitcmd"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// contain ends an attempt that could not be carried out for what is wrong with its own checkout, branch or commits. It is
// tried again in another checkout, a few times (attempts.GateAfter), and no other task is held up. What is wrong with the
// user's repository, the disk or the ledger stays an error, which ends the run.
func (l *slotEngine) contain(ctx context.Context, a engine.Attempt, f state, cause error) (state, error) {
	if a.Ended || !l.ofAttempt(ctx, cause) { // an attempt of a killed run: see giveUp
		return f, cause
	}
	settled, cancel := settling(ctx)
	defer cancel()
	return l.spoiled(settled, a, f, cause)
}

// spoiled sets an attempt aside whose checkout or commits git cannot read. What is left of them stays.
func (l *slotEngine) spoiled(ctx context.Context, a engine.Attempt, f state, cause error) (state, error) {
	f.Fail(attempts.Environment, attempts.CLIError, "the checkout or the commits of this attempt were damaged: "+cause.Error())
	f.Head, f.Landed = "", ""
	gitcmd.DropEmpty(l.home) // else the next attempt could not commit the same
	return f, l.abandon(ctx, a, &f)
}

// ofAttempt reports whether an error can only concern one attempt: git was there and said no, the disk takes what is
// written, and the commits that all attempts begin from can be read.
func (l *slotEngine) ofAttempt(ctx context.Context, err error) bool {
	if !refused(ctx, err) || gitcmd.DiskFault(err) {
		return false
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	return gitcmd.Whole(ctx, l.home, l.tips.Tip())
}

// joinFirst makes a step of the first of the waiting alone. What is wrong with its commits is its own attempt's.
func (l *slotEngine) joinFirst(ctx context.Context, first engine.Proved) (mergeStep, error) {
	step, err := l.join(ctx, []engine.Proved{first})
	if err == nil || !l.ofAttempt(ctx, err) {
		return step, err
	}
	settled, cancel := settling(ctx)
	defer cancel()
	f, err := l.spoiled(settled, first.Attempt, state{Result: first.Result}, err)
	tip := l.tips.Tip()
	return mergeStep{from: tip, to: tip, findings: []state{f}}, err
}

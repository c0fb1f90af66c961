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
func (s *slotEngine) contain(ctx context.Context, a engine.Attempt, f state, cause error) (state, error) {
	if !s.ofAttempt(ctx, cause) {
		return f, cause
	}
	settled, cancel := uninterrupted(ctx)
	defer cancel()
	return s.spoiled(settled, a, f, cause)
}

// spoiled sets an attempt aside whose checkout or commits git cannot read. What is left of them stays.
func (s *slotEngine) spoiled(ctx context.Context, a engine.Attempt, f state, cause error) (state, error) {
	f.Fail(attempts.Environment, attempts.CLIError, "the checkout or the commits of this attempt were damaged: "+cause.Error())
	f.Head, f.Landed = "", ""
	gitcmd.DropEmpty(s.home) // else the next attempt could not commit the same
	return f, s.abandon(ctx, a, &f)
}

// ofAttempt reports whether an error can only concern one attempt: git was there and said no, the disk takes what is
// written, and the commits that all attempts begin from can be read.
func (s *slotEngine) ofAttempt(ctx context.Context, err error) bool {
	if !refused(ctx, err) || gitcmd.DiskFault(err) {
		return false
	}
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	return gitcmd.Whole(ctx, s.home, s.tips.Tip())
}

// joinFirst makes a step of the first of the waiting alone. What is wrong with its commits is its own attempt's.
func (s *slotEngine) joinFirst(ctx context.Context, first engine.Proved) (mergeStep, error) {
	step, err := s.join(ctx, []engine.Proved{first})
	if err == nil || !s.ofAttempt(ctx, err) {
		return step, err
	}
	settled, cancel := uninterrupted(ctx)
	defer cancel()
	f, err := s.spoiled(settled, first.Attempt, state{Result: first.Result}, err)
	tip := s.tips.Tip()
	return mergeStep{from: tip, to: tip, findings: []state{f}}, err
}

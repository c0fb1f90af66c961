package orchestrator

import (
	"context"
	"errors"

	"relay/attempts"
)

// survive brings an attempt to its end in which git failed because somebody has damaged or removed .git: side by side
// that may have been a neighbour. What is in its worktree is kept. Any other error stays one.
func (l *lanes) survive(ctx context.Context, a Assignment, f Finding, repairs int64, cause error) (Finding, error) {
	settled, cancel := settling(ctx)
	defer cancel()
	why, err := l.vault.Mend(settled, l.home)
	if err != nil || ctx.Err() != nil || l.vault.Repairs() == repairs {
		return f, errors.Join(cause, err)
	}
	if why != "" {
		f.note("tamper", why)
	}
	f.fail(attempts.Environment, attempts.CLIError, "the repository's .git was damaged or removed during the attempt, and has been put back")
	w, err := l.reopen(settled, a)
	if err == nil {
		_, err = w.gather(settled, &f)
	}
	if err == nil {
		err = w.wrapUp(settled, &f)
	}
	if err == nil {
		err = w.vacate(settled, &f)
	}
	if err != nil {
		return f, errors.Join(cause, err)
	}
	return f, l.dropBranch(settled, l.branch(a), firstOf(f.Head, a.Base))
}

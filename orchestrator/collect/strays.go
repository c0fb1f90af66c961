package collect

import (
	"context"
	"errors"

	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
)

// CommitStrays commits the work as [Work.Commit] does, and takes it from where in the slot the agent left it if its branch has none; other
// asks for the next work that the agent left, in place of what is on the branch.
func CommitStrays(ctx context.Context, wk *Work, strays *slot.Strays, other bool) (names []git.Change, err error) {
	take := strays.Home
	if other {
		take = strays.Next
	}
	at, err := take(ctx)
	stray := other && at != ""
	for from := at; err == nil; from = at {
		if names, err = wk.Commit(ctx); err == nil && len(names) == 0 {
			if at, err = strays.Next(ctx); at != "" {
				stray = true
				continue
			}
		}
		if from != "" && len(names) > 0 {
			wk.State.Note("salvage", "the agent left its work "+from+": relay took it from there")
		}
		others, listing := strays.Others(ctx)
		wk.Evidence.Work.Others = stray && len(others) > 0 // what is on the branch is the work
		return names, errors.Join(err, listing)
	}
	return nil, err
}

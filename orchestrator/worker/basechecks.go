package worker

import (
	"context"
	"errors"
	"maps"

	"relay/attempts"
	"relay/orchestrator/checks"
)

// baseChecks is what checks have said before the work in the user's own checkout.
type baseChecks struct {
	cache *checks.Cache
	epic  checks.Baseline // of the commit that the next attempt begins from
}

// baseline asks the checks of a task what they say before its work, where they are run after it: in the user's own checkout.
// A task is held back before its agent is paid when one of them cannot run at all. The checks of the epic are asked before
// the first attempt of a run; after that what they said of the last success counts.
func (t *checkoutAttempt) baseline(ctx context.Context, f *state) (checks.Baseline, error) {
	before := make(checks.Baseline)
	tree, all := "", checks.List(t.a.Task.Checks, nil)
	if t.tree != nil {
		var err error
		if tree, err = t.repo.Tree(ctx, t.a.Base); err != nil {
			return nil, err
		}
		all = checks.List(t.a.Task.Checks, t.o.Epic.Checks)
	}
	q := checks.Question{Attempt: t.a, Logs: t.p.checks, Commit: t.a.Base, Checks: checks.On(checks.OnBase, all), Before: true}
	for _, list := range q.Lists() {
		if list.OfEpic() {
			tree = "" // once for the run
		}
		results, err := t.askBase(ctx, list, tree, f)
		if err != nil || f.Outcome != attempts.Success {
			return before, err
		}
		for i, s := range results {
			before[list.Checks[i].Key()] = s
		}
	}
	maps.Copy(before, t.base.epic)
	if t.tree != nil {
		t.checks.RequireRed(&t.a.Task, before, &f.Result)
	}
	return before, nil
}

// askBase runs a list of checks before the work, unless it is known what they say of that tree.
func (t *checkoutAttempt) askBase(ctx context.Context, q checks.Question, tree string, f *state) ([]checks.Result, error) {
	run := func() (list []checks.Result, whole bool, err error) {
		if t.tree != nil {
			defer func() { err = errors.Join(err, t.restoreBase(ctx, q.Commit, f)) }()
		}
		for _, check := range q.Checks {
			s, err := t.checks.Run(ctx, checks.Site{Attempt: q.Attempt, Logs: q.Logs, Dir: t.repo.Root()}, check)
			switch {
			case ctx.Err() != nil:
				f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped before the agent began")
				return list, false, nil
			case err != nil:
				return list, false, err
			case s.Unseen:
				checks.FailUnseen(check, &f.Result)
				return list, false, nil
			case t.checks.HoldBack(ctx, q.Attempt, check, s, &f.Result):
				return list, false, nil
			}
			list = append(list, s)
		}
		return list, true, nil
	}
	list, _, err := t.base.cache.Get(ctx, t.checks.Key(q, tree, ""), q.Believed, run)
	if err == nil && list == nil && f.Outcome == attempts.Success { // another task waited for it
		f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped before the agent began")
	}
	return list, err
}

// restoreBase removes what checks left in the user's own checkout: it would be taken for the agent's work.
func (t *checkoutAttempt) restoreBase(ctx context.Context, base string, f *state) error {
	ctx, cancel := settling(ctx)
	defer cancel()
	err := t.tree.Restore(ctx, base)
	if err == nil {
		return nil
	}
	if guarding := t.guard(ctx, f); guarding != nil || f.Outcome == attempts.Success { // the check may have damaged .git
		return errors.Join(err, guarding)
	}
	return t.tree.Restore(ctx, base)
}

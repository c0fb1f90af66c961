package worker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/evidence"
	"relay/orchestrator/text"
)

// checkLocation is where checks of an attempt are run: in the checkout it works in.
func (c *checkout) checkLocation(a engine.Attempt, p attemptFiles) checks.Location {
	return checks.Location{Attempt: a, Logs: p.checks, Dir: c.repo.Root()}
}

// runChecks runs the acceptance commands, the task's own and then the epic's, and fails the attempt with the first that
// does not pass. Side by side the epic's are left out: they would judge what the neighbours have half done.
func (t *checkoutAttempt) runChecks(ctx context.Context, f *state) error {
	if f.Outcome != attempts.Success {
		return nil
	}
	var merged []epic.Check
	if t.tree != nil {
		merged = t.o.Epic.Checks
	}
	after := make(checks.Baseline)
	for _, check := range checks.List(t.a.Task.Checks, merged) {
		s, err := t.passes(ctx, check, f)
		if err != nil {
			return err
		}
		if err := t.putBackProtected(ctx, check, f); err != nil || f.Outcome != attempts.Success {
			return err
		}
		if base, ok := f.onBase[check.Key()]; ok && s.Passed() && t.tree != nil {
			f.RanFewer(&t.a.Task, check.Name, base.Run, s.Run, &f.Result)
		}
		if check.OfEpic {
			after[check.Key()] = s
		}
	}
	f.epicResults = after
	return nil
}

// putBackProtected puts protected files back that were changed while a check ran: the next one would go by them.
func (t *checkoutAttempt) putBackProtected(ctx context.Context, check checks.Check, f *state) error {
	patterns := slices.Concat(t.o.Epic.Protected, t.a.Task.Protected)
	if t.tree == nil || len(patterns) == 0 {
		return nil
	}
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	changed, err := t.tree.PutBack(ctx, f.Head, func(path string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, path) })
	})
	f.written = append(f.written, changed...)
	if len(changed) > 0 {
		f.Note("tamper", text.Listed(changed)+", which is protected, was changed while "+check.Name+" ran; relay put it back")
	}
	if err == nil {
		return nil
	}
	if guarding := t.guard(ctx, f); guarding != nil || f.Outcome == attempts.Success { // the check may have damaged .git
		return errors.Join(err, guarding)
	}
	return nil
}

// passes runs one check and fails the attempt when it does not pass.
func (t *checkoutAttempt) passes(ctx context.Context, check checks.Check, f *state) (checks.Result, error) {
	s, err := t.checks.Run(ctx, t.checkLocation(t.a, t.p), check)
	if ctx.Err() != nil {
		checks.FailStopped(check, &f.Result)
		return s, nil //nolint:nilerr // the attempt ends as stopped
	}
	if err != nil {
		return s, err
	}
	f.Receipt.Checks = append(f.Receipt.Checks, s.Run)
	switch {
	case check.OfEpic && s.Red() && t.redBefore(ctx, check, s, f):
	case s.Unknown:
		checks.FailUnknown(check, &f.Result)
	case !s.Passed():
		f.Fail(attempts.Check, attempts.TestFailure, t.checks.WhyNow(check, s))
		if s.Red() && strings.Contains(check.Run, evidence.FindMissing(s.Run).Name) { // what only scripts call may be the agent's own
			t.checks.FailIfCannotRun(ctx, t.a, check, s.Run, &f.Result)
		}
	}
	return s, nil
}

// redBefore reports whether a check of the epic could not run at all before the work either, or failed in the same way: it is
// held against no task.
func (t *checkoutAttempt) redBefore(ctx context.Context, check checks.Check, s checks.Result, f *state) bool {
	base, ok := f.onBase[check.Key()]
	switch {
	case !ok || !base.Red():
		return false
	case t.checks.CannotRun(ctx, check, base.Run, t.a.Base) != "":
		return true
	case checks.Difference(base, s) != "":
		return false
	}
	f.Receipt.Checks[len(f.Receipt.Checks)-1].Attribution = attempts.BrokenBefore
	f.Note("broken_before", check.Name+" fails on the base of "+t.a.Task.ID+" too; it is not held against the task")
	return true
}

// baseline asks the checks of a task what they say before its work, where they are run after it: in the user's own checkout.
// A task is held back before its agent is paid when one of them cannot run at all. The checks of the epic are asked before
// the first attempt of a run; after that their results on the last success count.
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
			if list.OfEpic() && t.checks.HoldBack(ctx, t.a, list.Checks[i], s, &f.Result) { // it may have been asked for another task
				return before, nil
			}
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
			s, err := t.checks.Run(ctx, checks.Location{Attempt: q.Attempt, Logs: q.Logs, Dir: t.repo.Root()}, check)
			switch {
			case ctx.Err() != nil:
				f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped before the agent began")
				return list, false, nil
			case err != nil:
				return list, false, err
			case s.Unknown:
				checks.FailUnknown(check, &f.Result)
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
	ctx, cancel := uninterrupted(ctx)
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

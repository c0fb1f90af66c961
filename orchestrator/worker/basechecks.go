package worker

import (
	"context"
	"errors"
	"maps"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// baseChecks is what checks have said before the work in the user's own checkout.
type baseChecks struct {
	checkCache
	epic baseline // of the commit that the next attempt begins from
}

// baseline asks the checks of a task what they say before its work, where they are run after it: in the user's own checkout.
// A task is held back before its agent is paid when one of them cannot run at all. The checks of the epic are asked before
// the first attempt of a run; after that what they said of the last success counts.
func (c *checkout) baseline(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) (baseline, error) {
	before := make(baseline)
	tree, checks := "", acceptance(a.Task.Checks, nil)
	if c.tree != nil {
		var err error
		if tree, err = c.repo.Tree(ctx, a.Base); err != nil {
			return nil, err
		}
		checks = acceptance(a.Task.Checks, c.o.Epic.Checks)
	}
	for i := range checks {
		checks[i].occasion = onBase
	}
	for _, list := range (question{a: a, p: p, commit: a.Base, checks: checks, before: true}).lists() {
		if list.ofEpic() {
			tree = "" // once for the run
		}
		said, err := c.askBase(ctx, list, tree, f)
		if err != nil || f.Outcome != attempts.Success {
			return before, err
		}
		for i, s := range said {
			before[list.checks[i].key()] = s
		}
	}
	maps.Copy(before, c.base.epic)
	if c.tree != nil {
		c.checkRedBefore(a, before, f)
	}
	return before, nil
}

// askBase runs a list of checks before the work, unless it is known what they say of that tree.
func (c *checkout) askBase(ctx context.Context, q question, tree string, f *state) ([]checkResult, error) {
	run := func() (list []checkResult, whole bool, err error) {
		if c.tree != nil {
			defer func() { err = errors.Join(err, c.restoreBase(ctx, q.commit, f)) }()
		}
		for _, check := range q.checks {
			run, ended, err := c.trial(q.a, q.p).check(ctx, check)
			s := checkResult{run: run, timedOut: ended.TimedOut, flooded: ended.Flooded, unseen: unseen(ended)}
			switch {
			case ctx.Err() != nil:
				f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped before the agent began")
				return list, false, nil
			case err != nil:
				return list, false, err
			case s.unseen:
				f.Fail(attempts.Environment, attempts.CLIError, "the process that watched "+check.Name+" died; how it ended is unknown")
				return list, false, nil
			case c.holdBack(ctx, q.a, check, s, f):
				return list, false, nil
			}
			list = append(list, s)
		}
		return list, true, nil
	}
	list, _, err := c.base.of(ctx, q.key(c.workspace, tree, ""), q.believed, run)
	if err == nil && list == nil && f.Outcome == attempts.Success { // another task waited for it
		f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped before the agent began")
	}
	return list, err
}

// restoreBase removes what checks left in the user's own checkout: it would be taken for the agent's work.
func (c *checkout) restoreBase(ctx context.Context, base string, f *state) error {
	ctx, cancel := settling(ctx)
	defer cancel()
	err := c.tree.Restore(ctx, base)
	if err == nil {
		return nil
	}
	if guarding := c.guard(ctx, f); guarding != nil || f.Outcome == attempts.Success { // the check may have damaged .git
		return errors.Join(err, guarding)
	}
	return c.tree.Restore(ctx, base)
}

// checkRedBefore looks, before the work, at what the checks said that must fail then. One that passes proves nothing about this task;
// but when all checks of the task pass, its agent may find that it is done already.
func (g *workspace) checkRedBefore(a engine.Attempt, before baseline, f *state) {
	list := acceptance(a.Task.Checks, nil)
	must := slices.DeleteFunc(slices.Clone(list), func(n numbered) bool { return n.Expect != epic.ExpectRedThenGreen })
	for _, check := range must {
		s := before[check.key()]
		s.run.Phase = attempts.PhaseBaseline
		f.Receipt.Checks = append(f.Receipt.Checks, s.run)
	}
	if before.pass(list) {
		return
	}
	for _, check := range must {
		if g.failIfGreen(check, before[check.key()], f); f.Outcome != attempts.Success {
			return
		}
	}
}

// pass reports whether all of some checks did.
func (b baseline) pass(list []numbered) bool {
	return !slices.ContainsFunc(list, func(n numbered) bool { return !b[n.key()].passed() })
}

// early names the checks that must fail before the work, when all checks of the task pass then.
func (b baseline) early(a engine.Attempt) (names []string) {
	list := acceptance(a.Task.Checks, nil)
	if len(b) == 0 || !b.pass(list) {
		return nil
	}
	for _, check := range list {
		if check.Expect == epic.ExpectRedThenGreen {
			names = append(names, check.Name)
		}
	}
	return names
}

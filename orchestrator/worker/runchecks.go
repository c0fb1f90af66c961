package worker

import (
	"context"
	"slices"

	"relay/attempts"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
)

// baseline asks the checks of the task and of the epic what they say before the work. One that must fail then and
// passes proves nothing about this task.
func (w *slotAttempt) baseline(ctx context.Context, f *state) error {
	f.onBase = make(checks.Baseline)
	list := checks.On(checks.OnBase, checks.List(w.a.Task.Checks, w.o.Epic.Checks))
	q := checks.Question{Attempt: w.a, Logs: w.p.checks, Commit: w.a.Base, Checks: list, Before: true}
	err := w.ask(ctx, q, f, func(check checks.Check, s checks.Result) (bool, error) {
		f.onBase[check.Key()] = s
		return !w.checks.HoldBack(ctx, w.a, check, s, &f.Result), nil
	})
	if err == nil && f.Outcome == attempts.Success {
		w.checks.RequireRed(&w.a.Task, f.onBase, &f.Result)
	}
	return err
}

// runChecks runs the acceptance commands on exactly the commits of the attempt, and says of each that fails whose doing it is.
func (w *slotAttempt) runChecks(ctx context.Context, f *state) error {
	if f.onBase == nil { // the agent has ended under a run that was killed
		if err := w.baseline(ctx, f); err != nil || f.Outcome != attempts.Success {
			return err
		}
		if f.failIfUnproven(f.onBase.Early(&w.a.Task)); f.Outcome != attempts.Success {
			return nil
		}
	}
	f.written = append(f.written, f.onBase.Changed()...)
	q := checks.Question{Attempt: w.a, Logs: w.p.checks, Commit: f.Head, From: w.a.Base, Checks: checks.List(w.a.Task.Checks, w.o.Epic.Checks)}
	return w.ask(ctx, q, f, func(check checks.Check, after checks.Result) (bool, error) {
		f.written = append(f.written, after.Changed...)
		base, ok := f.onBase[check.Key()]
		if ok && check.OfEpic && !after.Passed() {
			var err error
			if base, err = w.rerun(ctx, checks.Question{Attempt: w.a, Logs: w.p.checks, Commit: w.a.Base}, check, base, f); err != nil {
				return false, err
			}
			f.onBase[check.Key()] = base
		}
		if ok {
			after.Run.Attribution = checks.Attribution(base, after)
		}
		f.Receipt.Checks = append(f.Receipt.Checks, after.Run)
		return f.Outcome == attempts.Success && w.accept(ctx, check, base, after, f), nil
	})
}

// runHook has the user's pre-commit hook say what it says of the work, if it is to.
func (w *slotAttempt) runHook(ctx context.Context, f *state) error {
	if w.o.Hook == "" || f.Outcome != attempts.Success || f.Head == w.a.Base {
		return nil
	}
	hook, said, err := w.askHook(ctx, f.Head, f)
	if err != nil || f.Outcome != attempts.Success {
		return err
	}
	f.Receipt.Checks = append(f.Receipt.Checks, said.Run)
	if said.Passed() {
		return nil
	}
	_, idle, err := w.askHook(ctx, w.a.Base, f)
	if err != nil || f.Outcome != attempts.Success {
		return err
	}
	w.checks.Fail(hook, said, &f.Result)
	alike := idle.Red() || idle.TimedOut && said.TimedOut
	if alike && checks.Difference(idle, said) == "" { // what it runs is not installed, most often
		f.Outcome = attempts.Environment
		f.Receipt.ErrorSummary += hookIsBroken
		w.hookBroken.Store(true)
	}
	return nil
}

const hookIsBroken = ", and in the same way where nothing has changed: git commit --allow-empty would show it"

// holdBackForHook ends an attempt before its agent begins while the user's pre-commit hook fails where nothing has changed, once it was
// seen to say nothing of work: the task waits until nothing else is left to do.
func (w *slotAttempt) holdBackForHook(ctx context.Context, f *state) error {
	if w.o.Hook == "" || f.Outcome != attempts.Success || !w.hookBroken.Load() {
		return nil
	}
	hook, idle, err := w.askHook(ctx, w.a.Base, f)
	if err != nil || f.Outcome != attempts.Success {
		return err
	}
	if idle.Passed() {
		w.hookBroken.Store(false)
		return nil
	}
	idle.Run.Phase = attempts.PhaseBaseline
	f.Receipt.Checks = append(f.Receipt.Checks, idle.Run)
	f.Fail(attempts.Environment, attempts.MissingDependency, w.checks.Why(hook, idle)+hookIsBroken)
	f.Held = true
	return nil
}

// askHook asks the user's pre-commit hook what it says of what a commit has changed since the base. Of the base itself there is nothing
// to say.
func (w *slotAttempt) askHook(ctx context.Context, commit string, f *state) (hook checks.Check, said checks.Result, err error) {
	hook = checks.Hook(w.o.Hook, w.a.Base, commit, len(w.a.Task.Checks))
	q := checks.Question{Attempt: w.a, Logs: w.p.checks, Commit: commit, Checks: []checks.Check{hook}, Anew: true}
	if commit != w.a.Base {
		q.From = w.a.Base
	}
	err = w.ask(ctx, q, f, func(_ checks.Check, r checks.Result) (bool, error) {
		said = r
		return true, nil
	})
	return hook, said, err
}

// accept reports whether what a check says of the work lets it go on, by what it said before; else it fails the attempt.
func (w *slotAttempt) accept(ctx context.Context, check checks.Check, base, after checks.Result, f *state) bool {
	if w.tampered(check, base, after, f) {
		return false
	}
	switch {
	case after.Passed():
		f.RanFewer(&w.a.Task, check.Name, base.Run, after.Run, &f.Result)
		return true
	case check.OfEpic && base.Red(): // this task has not broken it
		f.Note("broken_before", check.Name+" fails on the base of "+w.a.Task.ID+" too"+checks.Difference(base, after)+"; it is not held against the task")
		return true
	}
	w.checks.Fail(check, after, &f.Result)
	switch {
	case base.Passed(): // before the work
	case check.OfEpic:
		if after.Run.Attribution == attempts.BrokenBefore {
			f.Outcome = attempts.Environment
			f.Receipt.ErrorSummary += ", and in the same way before the work"
		}
	default: // the task was to make it pass, if it can run at all
		w.checks.FailIfCannotRun(ctx, w.a, check, after.Run, &f.Result)
	}
	return false
}

// tampered fails an attempt when a protected file by which checks decide (a test, a script they run) was changed while a
// check ran that leaves it alone on the base: the check may have passed by it. Other protected files, such as logs, prove
// nothing, and relay has put them back. Side by side nobody can say whose doing it was: then the check has proved nothing,
// and that is all.
func (w *slotAttempt) tampered(check checks.Check, base, after checks.Result, f *state) bool {
	at := slices.IndexFunc(after.Changed, func(path string) bool {
		return !slices.Contains(base.Changed, path) && changes.DecidesChecks(w.o.Epic, &w.a.Task, path)
	})
	if at < 0 {
		return false
	}
	why := attempts.Clean(after.Changed[at], 200) + ", which is protected, was changed while " + check.Name + " ran"
	if w.busy.Load() <= 2 { // this attempt, and this checkout
		f.Fail(attempts.Tamper, attempts.Tampered, why)
		return true
	}
	f.Fail(attempts.Environment, attempts.CLIError, why+"; it proves nothing")
	return true
}

// rerun asks a check of the epic once more what it says of the commit a work is put on, when it fails on the work. One
// failure there may be a flake, and would excuse whatever breaks it for the rest of the night; and what has passed there
// hours ago may fail by now, for a service that is gone: then nothing is known of the work.
func (s *slotEngine) rerun(
	ctx context.Context, q checks.Question, check checks.Check, before checks.Result, f *state,
) (checks.Result, error) {
	if before.Twice || !before.Red() && !before.Passed() {
		return before, nil
	}
	tree, err := s.home.Tree(ctx, q.Commit)
	if err != nil {
		return before, err
	}
	q.Anew, q.Checks = true, checks.List(nil, s.o.Epic.Checks)
	key := s.checks.Key(q, tree, "")
	q.Checks = checks.On(checks.OnAgain, q.Checks[:check.Index+1])
	passed := before.Passed()
	err = s.ask(ctx, q, f, func(one checks.Check, again checks.Result) (bool, error) {
		if one.Index == check.Index {
			before = again
			before.Twice = again.Red() && !passed
			s.results.Correct(key, check.Index, again)
		}
		return true, nil
	})
	if err == nil && f.Outcome == attempts.Success && passed && !before.Passed() {
		f.Fail(attempts.Environment, attempts.TestFailure, s.checks.Why(check, before)+" on "+q.Commit[:min(12, len(q.Commit))]+" too, where it has passed before: nothing is known of the work")
	}
	return before, err
}

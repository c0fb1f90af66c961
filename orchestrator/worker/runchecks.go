package worker

import (
	"context"
	"fmt"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/runners"
	"relay/runners/process"
)

// baseline is what the checks said of the commit an attempt began from, by their keys.
type baseline map[string]checkResult

// noteWritten takes note of the protected files that the checks change without the work.
func (b baseline) noteWritten(f *state) {
	for _, s := range b {
		f.written = append(f.written, s.changed...)
	}
}

// baseline asks the checks of the task and of the epic what they say before the work. One that must fail then and
// passes proves nothing about this task.
func (w *slotAttempt) baseline(ctx context.Context, f *state) error {
	w.before = make(baseline)
	checks := acceptance(w.a.Task.Checks, w.o.Epic.Checks)
	for i := range checks {
		checks[i].occasion = onBase
	}
	err := w.ask(ctx, question{a: w.a, p: w.p, commit: w.a.Base, checks: checks, before: true}, f, func(check numbered, s checkResult) (bool, error) {
		w.before[check.key()] = s
		return !w.holdBack(ctx, w.a, check, s, f), nil
	})
	if err == nil && f.Outcome == attempts.Success {
		w.checkRedBefore(w.a, w.before, f)
	}
	return err
}

// failIfGreen fails a finding, before the work, with a check that must fail then and did not.
func (g *workspace) failIfGreen(check numbered, s checkResult, f *state) {
	switch {
	case s.timedOut:
		f.Fail(attempts.Environment, attempts.TestFailure, fmt.Sprintf("%s %s before the work, so it cannot prove it (expect: red_then_green)", check.Name, tooMuch(s.flooded, g.checkWall(check.Check))))
	case s.passed():
		f.Fail(attempts.Environment, attempts.TestFailure, beforeWork(check.Name))
		f.Gate = attempts.Infrastructure
	}
}

// runChecks runs the acceptance commands on exactly the commits of the attempt, and says of each that fails whose doing it is.
func (w *slotAttempt) runChecks(ctx context.Context, f *state) error {
	if w.before == nil { // the agent has ended under a run that was killed
		if err := w.baseline(ctx, f); err != nil || f.Outcome != attempts.Success {
			return err
		}
		if f.provedByNothing(w.before.early(w.a)); f.Outcome != attempts.Success {
			return nil
		}
	}
	w.before.noteWritten(f)
	q := question{a: w.a, p: w.p, commit: f.Head, from: w.a.Base, checks: acceptance(w.a.Task.Checks, w.o.Epic.Checks)}
	return w.ask(ctx, q, f, func(check numbered, after checkResult) (bool, error) {
		f.written = append(f.written, after.changed...)
		base, known := w.before[check.key()]
		if known && check.ofEpic && !after.passed() {
			var err error
			if base, err = w.rerun(ctx, question{a: w.a, p: w.p, commit: w.a.Base}, check, base, f); err != nil {
				return false, err
			}
			w.before[check.key()] = base
		}
		if known {
			after.run.Attribution = attribution(base, after)
		}
		f.Receipt.Checks = append(f.Receipt.Checks, after.run)
		return f.Outcome == attempts.Success && w.proves(ctx, check, base, after, f), nil
	})
}

// proves reports whether what a check says of the work lets it go on, by what it said before; else it fails the finding.
func (w *slotAttempt) proves(ctx context.Context, check numbered, base, after checkResult, f *state) bool {
	if w.tampered(check, base, after, f) {
		return false
	}
	switch {
	case after.passed():
		f.ranFewer(w.a.Task, check, base, after)
		return true
	case check.ofEpic && base.red(): // this task has not broken it
		f.Note("broken_before", check.Name+" fails on the base of "+w.a.Task.ID+" too"+otherwise(base, after)+"; it is not held against the task")
		return true
	}
	w.failed(check, after, f)
	switch {
	case base.passed(): // before the work
	case check.ofEpic:
		if after.run.Attribution == attempts.BrokenBefore {
			f.Outcome = attempts.Environment
			f.Receipt.ErrorSummary += ", and in the same way before the work"
		}
	default: // the task was to make it pass, if it can run at all
		w.cannotRun(ctx, w.a, check, after.run, f)
	}
	return false
}

// tampered fails a finding when a protected file by which checks decide (a test, a script they run) was changed while a
// check ran that leaves it alone on the base: the check may have passed by it. Other protected files, such as logs, prove
// nothing, and relay has put them back. Side by side nobody can say whose doing it was: then the check has proved nothing,
// and that is all.
func (w *slotAttempt) tampered(check numbered, base, after checkResult, f *state) bool {
	at := slices.IndexFunc(after.changed, func(path string) bool {
		return !slices.Contains(base.changed, path) && w.decides(&w.a.Task, path)
	})
	if at < 0 {
		return false
	}
	why := attempts.Clean(after.changed[at], 200) + ", which is protected, was changed while " + check.Name + " ran"
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
func (s *slotEngine) rerun(ctx context.Context, q question, check numbered, before checkResult, f *state) (checkResult, error) {
	if before.twice || !before.red() && !before.passed() {
		return before, nil
	}
	tree, err := s.home.Tree(ctx, q.commit)
	if err != nil {
		return before, err
	}
	q.anew, q.checks = true, acceptance(nil, s.o.Epic.Checks)
	key := q.key(s.workspace, tree, "")
	q.checks = q.checks[:check.index+1]
	for i := range q.checks {
		q.checks[i].occasion = onAgain
	}
	passed := before.passed()
	err = s.ask(ctx, q, f, func(one numbered, again checkResult) (bool, error) {
		if one.index == check.index {
			before = again
			before.twice = again.red() && !passed
			s.said.correct(key, check.index, again)
		}
		return true, nil
	})
	if err == nil && f.Outcome == attempts.Success && passed && !before.passed() {
		f.Fail(attempts.Environment, attempts.TestFailure, s.why(check, before)+" on "+q.commit[:min(12, len(q.commit))]+" too, where it has passed before: nothing is known of the work")
	}
	return before, err
}

// otherwise says that a check which failed before the work fails in another way now, unless fewer of its tests fail.
func otherwise(before, after checkResult) string {
	was, now := before.run.Tests(), after.run.Tests()
	switch {
	case now.MoreFailed(was):
		return fmt.Sprintf(", and with more tests: %d failed before, %d do now", was.Failed, now.Failed)
	case now.FewerFailed(was):
		return ""
	case before.run.ExitCode == after.run.ExitCode && attempts.Normalise(before.run.Tail) == attempts.Normalise(after.run.Tail):
		return ""
	}
	return ", but in another way: it may be worse than before"
}

// failed fails a finding with what a check said.
func (g *workspace) failed(check numbered, s checkResult, f *state) {
	f.Fail(attempts.Check, attempts.TestFailure, g.why(check, s))
}

// why says how a check that does not pass ended.
func (g *workspace) why(check numbered, s checkResult) string {
	if s.timedOut {
		return check.Name + " " + tooMuch(s.flooded, g.checkWall(check.Check))
	}
	return check.Name + ": " + runners.DescribeExit(process.Exit{Code: s.run.ExitCode})
}

// attribution says whose doing it is how a check ended.
func attribution(before, after checkResult) attempts.Attribution {
	switch {
	case before.timedOut && !after.timedOut: // it had said nothing
		return ""
	case before.passed() && after.passed():
		return attempts.StayedClean
	case before.passed():
		return attempts.BrokenByTask
	case after.passed():
		return attempts.FixedByTask
	}
	return attempts.BrokenBefore
}

// red names those of the epic's checks that fail on the base: without that an agent would look for its own mistake.
func (b baseline) red(ofEpic []epic.Check) []string {
	var names []string
	for _, check := range acceptance(nil, ofEpic) {
		if s, known := b[check.key()]; known && !s.unseen && !s.passed() {
			names = append(names, check.Name)
		}
	}
	return names
}

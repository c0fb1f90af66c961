package orchestrator

import (
	"context"
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/runners"
	"relay/runners/process"
)

// question is a list of checks to be run on one commit, for one attempt.
type question struct {
	a      Assignment
	p      place
	commit string
	checks []numbered
}

// ask runs checks in a clean checkout of a commit, one after another, until hear has heard enough. What is known of
// the commit's tree is not run again; when all is known there is no checkout either.
func (l *lanes) ask(ctx context.Context, q question, f *Finding, hear func(numbered, said) (more bool)) error {
	tree, err := l.tree(ctx, q.commit)
	if err != nil {
		return err
	}
	b := bench{l: l, q: q}
	defer b.leave()
	for _, check := range q.checks {
		key := verdictKey{tree, check.Run, l.checkWall(check.Check)}
		s, err := l.said.of(ctx, key, func() (said, error) { return b.run(ctx, check, f) })
		if err != nil || f.Outcome != attempts.Success {
			return err
		}
		s.run.Name, s.run.Phase = check.Name, check.phase
		if ctx.Err() != nil {
			f.fail(attempts.Stopped, attempts.Interrupted, "the run was stopped while "+check.Name+" ran")
			return nil
		}
		if s.unseen {
			f.fail(attempts.Environment, attempts.CLIError, "the process that watched "+check.Name+" died; how it ended is unknown")
			return nil
		}
		if !hear(check, s) {
			return nil
		}
	}
	return nil
}

// bench is a clean checkout of a commit to run checks in, made when the first one needs it.
type bench struct {
	l    *lanes
	q    question
	name string
	dir  string
}

func (b *bench) run(ctx context.Context, check numbered, f *Finding) (said, error) {
	if b.name == "" {
		b.name = b.l.enter(benchName)
		b.l.busy.Add(1)
		repo, err := b.l.yard.site(ctx, b.name, b.q.commit, "")
		if err != nil {
			return said{}, err
		}
		b.dir = repo.Root()
		if err := b.l.equip(ctx, b.q.a, b.q.p, b.dir, f); err != nil || f.Outcome != attempts.Success {
			return said{unseen: true}, err
		}
	}
	run, ended, err := trial{b.l.ground, b.q.a, b.q.p, b.dir}.check(ctx, check)
	return said{run, ended.TimedOut, unseen(ended)}, err
}

func (b *bench) leave() {
	if b.name != "" {
		b.l.leave(b.name)
		b.l.busy.Add(-1)
	}
}

// baseline is what the checks said of the commit an attempt began from, by their keys.
type baseline map[string]said

// baseline asks the checks of the task and of the epic what they say before the work. One that must fail then and
// passes proves nothing about this task.
func (w *lane) baseline(ctx context.Context, f *Finding) error {
	w.before = make(baseline)
	checks := acceptance(w.a.Task.Checks, w.o.Epic.Checks)
	for i := range checks {
		checks[i].occasion = onBase
	}
	return w.ask(ctx, question{w.a, w.p, w.a.Base, checks}, f, func(check numbered, s said) bool {
		w.before[check.key()] = s
		if check.Expect == epic.ExpectRedThenGreen {
			s.run.Phase = phaseBaseline
			f.Receipt.Checks = append(f.Receipt.Checks, s.run)
			if s.passed() {
				f.fail(attempts.Environment, attempts.TestFailure, check.Name+" passes before the work, so it cannot prove it (expect: red_then_green)")
				f.Gate = attempts.Infrastructure
				return false
			}
		}
		return true
	})
}

// prove runs the acceptance commands on exactly the commits of the attempt, and says of each that fails whose doing it is.
func (w *lane) prove(ctx context.Context, f *Finding) error {
	checks := acceptance(w.a.Task.Checks, w.o.Epic.Checks)
	return w.ask(ctx, question{w.a, w.p, f.Head, checks}, f, func(check numbered, after said) bool {
		base, known := w.before[check.key()]
		if known {
			after.run.Attribution = attribution(base, after)
		}
		f.Receipt.Checks = append(f.Receipt.Checks, after.run)
		if after.passed() {
			return true
		}
		if after.run.Attribution != attempts.BrokenBefore {
			w.failed(check, after, f)
			return false
		}
		if check.ofEpic { // this task has not made it worse
			f.note("broken_before", check.Name+" fails on the base of "+w.a.Task.ID+" too; it is not held against the task")
			return true
		}
		w.failed(check, after, f)
		if same(base, after) {
			f.Outcome = attempts.Environment
			f.Receipt.ErrorSummary += ", and in the same way before the work"
		}
		return false
	})
}

// failed fails a finding with what a check said.
func (g *ground) failed(check numbered, s said, f *Finding) {
	why := check.Name + ": " + runners.HowEnded(process.Exit{Code: s.run.ExitCode})
	if s.timedOut {
		why = fmt.Sprintf("%s took longer than %s", check.Name, g.checkWall(check.Check))
	}
	f.fail(attempts.Check, attempts.TestFailure, why)
}

// attribution says whose doing it is how a check ended.
func attribution(before, after said) attempts.Attribution {
	switch {
	case before.passed() && after.passed():
		return attempts.StayedClean
	case before.passed():
		return attempts.BrokenByTask
	case after.passed():
		return attempts.FixedByTask
	}
	return attempts.BrokenBefore
}

// same reports whether a check fails as it did before the work, by what it printed. One that printed nothing says
// nothing about why it fails: then the task is what it was to make pass.
func same(before, after said) bool {
	one, two := attempts.Normalise(before.run.Tail), attempts.Normalise(after.run.Tail)
	return strings.TrimSpace(one) != "" && one == two && before.run.ExitCode == after.run.ExitCode
}

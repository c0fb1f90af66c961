package worker

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
	"relay/runners"
	"relay/runners/process"
	"relay/runners/sandbox"
)

// asker runs checks on commits for an attempt: in clean checkouts, or in the user's own.
type asker interface {
	// Ask runs checks on a commit until visit wants no more.
	Ask(ctx context.Context, q checks.Question, tr *bench.Trouble, visit checks.Visit) error
	// Again asks a check of the epic again what it says of the commit that a work is put on, when it fails on the work. One failure there
	// may be a flake, and would excuse whatever breaks it for the rest of the night; and what has passed there hours ago may fail by now,
	// for a service that is gone: then nothing is known of the work.
	Again(ctx context.Context, q checks.Question, check checks.Check, before checks.Result, tr *bench.Trouble) (checks.Result, error)
	// Quiet reports whether no other attempt is at work.
	Quiet() bool
}

// acceptance runs the acceptance commands of the attempt and classifies what they say.
type acceptance struct {
	t     *attempt
	bench asker
}

// question asks checks of the attempt about a commit.
func (ac *acceptance) question(commit string, list []checks.Check) checks.Question {
	return checks.Question{Attempt: ac.t.a, Logs: ac.t.files.Checks, Commit: commit, Checks: list}
}

// checkBase runs the checks of the task and of the epic before the work. One that must fail then and passes proves nothing.
func (ac *acceptance) checkBase(ctx context.Context) error {
	t := ac.t
	t.ev.Base = &verdict.Before{}
	if err := ac.baseline(ctx, t.ev.Base); err != nil {
		return err
	}
	if t.run.o.Isolation == engine.IsolationShared {
		return nil
	}
	if verdict.Stands(&t.ev) {
		t.a.BriefInput.Red, t.a.BriefInput.Passing = t.f.OnBase.Red(t.run.o.Epic.Checks), t.ev.Base.Early
		return ac.askBrokenHook(ctx, t.ev.Base)
	}
	return nil
}

// baseline runs the checks on the base.
func (ac *acceptance) baseline(ctx context.Context, b *verdict.Before) error {
	t := ac.t
	f, r := &t.f, t.run.checks
	f.OnBase = make(checks.Baseline)
	q := ac.question(t.a.Base, checks.On(checks.OnBase, checks.List(t.a.Task.Checks, ac.t.run.epicChecks())))
	q.Before, q.Mine = true, true
	var tr bench.Trouble
	err := ac.bench.Ask(ctx, q, &tr, func(check checks.Check, s checks.Result) (bool, error) {
		f.OnBase[check.Key()] = s
		why, note := r.HoldBack(ctx, t.a, check, s)
		if f.Note("check", note); why != "" {
			b.CannotRun, tr.Refused, s.Run.Phase = why, s.Refused, attempts.PhaseBaseline
			f.Receipt.Checks = append(f.Receipt.Checks, s.Run)
		}
		return why == "" || s.TimedOut, nil // only a whole list is remembered, and the next task need not wait as long
	})
	b.Mishap = tr.Mishap
	f.Receipt.Checks = append(f.Receipt.Checks, tr.Runs...)
	if err != nil || tr.Any() || b.CannotRun != "" || t.run.o.Isolation == engine.IsolationShared {
		return err
	}
	b.Early = f.OnBase.Early(&t.a.Task)
	for _, check := range checks.MustFail(&t.a.Task) {
		s := f.OnBase[check.Key()]
		run := s.Run
		run.Phase = attempts.PhaseBaseline
		f.Receipt.Checks = append(f.Receipt.Checks, run)
		switch {
		case len(b.Early) > 0 || b.Late+b.Green != "":
		case s.TimedOut:
			b.Late = check.Name + " " + r.TooMuch(check, s)
		case s.Passed():
			b.Green = check.Name
		}
	}
	return nil
}

// check runs the acceptance commands on exactly the commits of the attempt, one after another while nothing speaks against the work, and
// sees of each that fails whether it failed before.
func (ac *acceptance) check(ctx context.Context) error {
	t := ac.t
	f := &t.f
	t.ev.Checks = &verdict.Runs{}
	if f.OnBase == nil { // the agent has ended under a run that was killed
		if err := ac.baseline(ctx, t.ev.Base); err != nil || !verdict.Stands(&t.ev) {
			return err
		}
	}
	f.Written = append(f.Written, f.OnBase.Changed()...)
	q := ac.question(f.Head, checks.List(t.a.Task.Checks, ac.t.run.epicChecks()))
	var tr bench.Trouble
	q.From, q.Silent, q.Red = t.a.Base, ac.silent, func(check checks.Check, after checks.Result) bool {
		red := func() bool { r := f.OnBase[check.Key()]; return r.Red() && !ac.worse(r, after) }
		return check.OfEpic && red() && ac.askBase(ctx, check, &tr) == nil && red()
	}
	if len(q.Checks) > 0 {
		t.ev.Guard = nil // code of the agent runs
	}
	var rewrote []checks.Rewritten
	err := ac.bench.Ask(ctx, q, &tr, func(check checks.Check, after checks.Result) (bool, error) {
		f.Written = append(f.Written, after.Changed...)
		rewrote = append(rewrote, after.Rewrote...)
		run, err := ac.see(ctx, check, &after, &tr)
		if err != nil {
			return false, err
		}
		f.Receipt.Checks, tr.Refused = append(f.Receipt.Checks, after.Run), after.Refused
		t.ev.Checks.Runs, t.ev.Checks.Mishap = append(t.ev.Checks.Runs, run), tr.Mishap
		return verdict.Stands(&t.ev), nil
	})
	t.ev.Checks.Mishap = tr.Mishap
	f.Receipt.Checks = append(f.Receipt.Checks, tr.Runs...)
	if err != nil || tr.Any() {
		return err
	}
	if t.work.LeftProtected(); !verdict.Stands(&t.ev) {
		return ac.askHookOnWork(ctx) // a formatter may mend what a linter finds
	}
	again, err := collect.TakeLocks(t.c.repo.Root(), rewrote, f)
	if again { // the work is another one
		t.ev.Work, t.ev.Mark, t.ev.Checks = nil, nil, nil
	}
	return err
}

// silent reports whether a check of the task may fail on the work for the sandbox alone, without a word.
func (ac *acceptance) silent(check checks.Check) bool {
	return ac.t.run.o.Sandbox == sandbox.Auto && !check.OfEpic && !ac.t.f.OnBase[check.Key()].Passed()
}

// see classifies the result of a check on the work, by what it said on the base.
func (ac *acceptance) see(ctx context.Context, check checks.Check, after *checks.Result, tr *bench.Trouble) (verdict.Run, error) {
	t := ac.t
	f, r := &t.f, t.run.checks
	first := f.OnBase[check.Key()]
	if after.TrustUnless(f.Receipt.FilesChanged); !after.Passed() {
		if err := ac.askBase(ctx, check, tr); err != nil {
			return verdict.Run{}, err
		}
	}
	base, known := f.OnBase[check.Key()]
	run := verdict.Run{
		Name: check.Name, OfEpic: check.OfEpic, Is: after.State(), Alone: ac.bench.Quiet(), Crowded: after.Crowded,
		NoTest: after.Idle(first, check),
	}
	if known {
		ac.compare(ctx, check, first, after, &run)
	}
	at := slices.IndexFunc(after.Changed, func(path string) bool {
		return !slices.Contains(base.Changed, path) && changes.DecidesChecks(t.run.o.Epic, &t.a.Task, path)
	})
	switch {
	case at >= 0: // a test, a script that a check runs: it may have passed by it
		run.Changed = plaintext.Capped(after.Changed[at], 200)
	case after.Passed():
		f.Note("flaky", r.Flaky(check, after))
		t.ev.Checks.Flaky = append(t.ev.Checks.Flaky, r.FlakesAgain(t.a.Task.ID, check, after)...)
		t.ev.Checks.Fewer = append(t.ev.Checks.Fewer, f.RanFewer(check.Name, base.Run, after.Run, &f.Result)...)
	case run.Excused():
		why := check.Name + " fails on the base of " + t.a.Task.ID + " too" + checks.Difference(base, *after)
		f.Note("broken_before", why+"; it is not charged to the task")
	default:
		run.How, run.Short = r.Why(check, *after), r.Briefly(check, *after)
		run.LeftOut = collect.Missed(slices.Concat(t.ev.Work.LeftOut, t.ev.Work.Left), after.Run.Tail)
		if t.inUsers() {
			run.How = r.WhyNow(check, *after)
		} else if why, install := r.Uninstalled(ctx, check, after.Run, f.Head, t.c.repo.Root()); install == "" {
			run.Lacks = why
		}
		if !check.OfEpic {
			run.CannotRun = r.CannotRun(ctx, check, after.Run, t.a.Base)
		} else if base.Red() {
			run.How += "; it failed before the work" + checks.Difference(base, *after)
		}
	}
	return run, nil
}

// askBase repeats a check of the epic that fails on the work, on the base.
func (ac *acceptance) askBase(ctx context.Context, check checks.Check, tr *bench.Trouble) (err error) {
	base, known := ac.t.f.OnBase[check.Key()]
	if known && check.OfEpic {
		base, err = ac.bench.Again(ctx, ac.question(ac.t.a.Base, nil), check, base, tr)
		ac.t.f.OnBase[check.Key()] = base
	}
	return err
}

// compare sees how a check on the work differs from what it said on the base, where first is what it said there before it was asked again.
// Only the same failure is excused: a new one is the work's, or in the user's checkout what an earlier check has left. Where the base fails
// in two ways by itself nothing can be compared.
func (ac *acceptance) compare(ctx context.Context, check checks.Check, first checks.Result, after *checks.Result, run *verdict.Run) {
	base := ac.t.f.OnBase[check.Key()]
	whose := checks.Attribution(base, *after)
	run.Before, run.Alike = base.State(), whose == attempts.BrokenBefore
	if run.Excused() && ac.worse(base, *after) && !ac.worse(first, base) && !ac.worse(base, first) &&
		ac.t.run.checks.CannotRun(ctx, check, base.Run, ac.t.a.Base) == "" {
		run.Before, run.Alike = "", false
	}
	if !ac.t.inUsers() || run.Excused() {
		after.Run.Attribution = whose
	}
}

// worse reports whether a check of the epic fails worse than before. In the user's checkout every difference counts.
func (ac *acceptance) worse(before, after checks.Result) bool {
	return checks.Worse(before, after) != "" || ac.t.inUsers() && checks.Difference(before, after) != ""
}

// askHookOnWork sees what the user's pre-commit hook says of the work, if it is to run.
func (ac *acceptance) askHookOnWork(ctx context.Context) error {
	t := ac.t
	t.ev.Hook = &verdict.Hook{}
	if t.run.o.Hook == "" || t.f.Head == t.a.Base {
		return nil
	}
	t.ev.Guard = nil
	var tr bench.Trouble
	hook, on, err := ac.askHook(ctx, t.f.Head, &tr)
	if err == nil && !tr.Any() {
		t.f.Receipt.Checks = append(t.f.Receipt.Checks, on.Run)
		if on.Passed() {
			return nil
		}
		if on.Red() {
			_, again, err := collect.TakeRewritten("the pre-commit hook", t.c.repo.Root(), on.Rewrote, &t.f)
			if again {
				t.ev.Work, t.ev.Mark, t.ev.Checks, t.ev.Hook = nil, nil, nil, nil
			}
			if again || err != nil {
				return err
			}
		}
		var idle checks.Result
		if _, idle, err = ac.askHook(ctx, t.a.Base, &tr); err == nil && !tr.Any() {
			r := t.run.checks
			t.ev.Hook.How, t.ev.Hook.Short = r.Why(hook, on), r.Briefly(hook, on)
			t.ev.Hook.Alike = (idle.Red() || idle.TimedOut && on.TimedOut) && checks.Difference(idle, on) == "" // it is not installed, most often
			t.run.hookBroken.Store(t.ev.Hook.Alike)
		}
	}
	t.ev.Hook.Mishap = tr.Mishap
	t.f.Receipt.Checks = append(t.f.Receipt.Checks, tr.Runs...)
	return err
}

// askBrokenHook sees whether the user's pre-commit hook still fails where nothing has changed, once it was seen to.
func (ac *acceptance) askBrokenHook(ctx context.Context, b *verdict.Before) error {
	t := ac.t
	if t.run.o.Hook == "" || !t.run.hookBroken.Load() {
		return nil
	}
	var tr bench.Trouble
	hook, idle, err := ac.askHook(ctx, t.a.Base, &tr)
	b.Mishap = tr.Mishap
	t.f.Receipt.Checks = append(t.f.Receipt.Checks, tr.Runs...)
	if err != nil || tr.Any() {
		return err
	}
	if idle.Passed() {
		t.run.hookBroken.Store(false)
		return nil
	}
	idle.Run.Phase = attempts.PhaseBaseline
	t.f.Receipt.Checks = append(t.f.Receipt.Checks, idle.Run)
	b.Hook = t.run.checks.Why(hook, idle)
	return nil
}

// askHook runs the user's pre-commit hook on what a commit has changed since the base: nothing, for the base itself.
func (ac *acceptance) askHook(ctx context.Context, commit string, tr *bench.Trouble) (hook checks.Check, on checks.Result, err error) {
	t := ac.t
	hook = checks.Hook(t.run.o.Hook, t.a.Base, commit, len(t.a.Task.Checks))
	q := ac.question(commit, []checks.Check{hook})
	q.Anew = true
	if commit != t.a.Base {
		q.From = t.a.Base
		q.Takes = func(path string) bool { return slices.Contains(t.f.Receipt.FilesChanged, path) }
	}
	err = ac.bench.Ask(ctx, q, tr, func(_ checks.Check, r checks.Result) (bool, error) {
		on = r
		return true, nil
	})
	return hook, on, err
}

// askFurther runs the checks that pass again, in other checkouts: a look at what they prove.
func (ac *acceptance) askFurther(ctx context.Context) error {
	t := ac.t
	t.ev.Old = &verdict.Old{}
	if t.ev.Work.Unattributed {
		return nil
	}
	if err := ac.checkWithOldTests(ctx); err != nil || t.ev.Old.Check != "" || t.ev.Old.Mishap != (verdict.Mishap{}) {
		return err
	}
	return ac.checkEmptied(ctx)
}

// checkEmptied runs the checks again without the content of the code that the attempt has changed, if all of them passed before the
// work: those that pass again prove nothing of it.
func (ac *acceptance) checkEmptied(ctx context.Context) error {
	f := &ac.t.f
	empty := slices.DeleteFunc(slices.Clone(f.Found.Code), func(p string) bool {
		info, err := os.Lstat(filepath.Join(ac.t.c.repo.Root(), p))
		return err != nil || !info.Mode().IsRegular()
	})
	seconds := 0.0
	for _, r := range f.OnBase {
		seconds += r.Run.Seconds
	}
	runs := ac.t.ev.Checks.Runs
	red := slices.ContainsFunc(runs, func(r verdict.Run) bool { return r.Before != verdict.Passed })
	if len(empty)*len(runs) == 0 || seconds > bench.Briefly.Seconds() || red || ac.t.inUsers() {
		return nil
	}
	ac.t.ev.Guard = nil // code of the agent runs
	last, err := ac.withoutCode(ctx, f.Head, empty)
	if last.Passed() {
		ac.t.ev.Old.Blind = empty
	}
	return err
}

// withoutCode runs all checks on a commit with files emptied: see [bench.Emptied].
func (ac *acceptance) withoutCode(ctx context.Context, commit string, files []string) (checks.Result, error) {
	q := ac.question(commit, checks.List(ac.t.a.Task.Checks, ac.t.run.epicChecks()))
	return bench.Emptied(ctx, ac.bench.Ask, q, files)
}

// checkWithOldTests runs the checks that pass again, with the tests, check scripts and helpers that were changed unasked as
// the base has them. A work that fails then, twice, passes only by its own version of them.
func (ac *acceptance) checkWithOldTests(ctx context.Context) error {
	t := ac.t
	f := &t.f
	if len(f.Found.Old.Changed) == 0 {
		return nil
	}
	t.ev.Guard = nil
	q := ac.question(f.Head, checks.On(checks.OnOld, checks.List(t.a.Task.Checks, ac.t.run.epicChecks())))
	q.Anew, q.Lay, q.LayFrom = true, f.Found.Old.All, t.a.Base
	var tr bench.Trouble
	var red *checks.Result
	for try := 0; try == 0 || try < 2 && red != nil && !tr.Any(); try++ {
		red = nil
		err := ac.bench.Ask(ctx, q, &tr, func(check checks.Check, s checks.Result) (bool, error) {
			if s.Red() && !(check.OfEpic && f.OnBase[check.Key()].Red()) {
				red = &s
				red.Run.Name = check.Name
			}
			return red == nil, nil
		})
		if err != nil {
			return err
		}
	}
	f.Receipt.Checks = append(f.Receipt.Checks, tr.Runs...)
	if tr.SetUp != "" { // what it was put to does not fit the rest of the work, and no check has said anything
		t.ev.Old.Check, t.ev.Old.How, t.ev.Old.Changed = "the set-up", tr.SetUp, f.Found.Old.Changed
		return nil
	}
	if t.ev.Old.Mishap = tr.Mishap; red == nil || tr.Any() {
		return nil
	}
	t.ev.Old.Check, t.ev.Old.Changed = red.Run.Name, f.Found.Old.Changed
	t.ev.Old.How = runners.DescribeExit(process.Exit{Code: red.Run.ExitCode})
	red.Run.Name += ", with the unchanged tests"
	f.Receipt.Checks = append(f.Receipt.Checks, red.Run)
	return nil
}

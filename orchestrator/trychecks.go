package orchestrator

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic"
)

// TriedCheck is what an acceptance command came to on the commit that a run would begin from.
type TriedCheck struct {
	Check     epic.Check
	Tasks     []string // that have it; none: it is the epic's
	Passed    bool
	CannotRun string // why it could not run at all, whatever an agent does, and what to do about it
	How       string // it ended, when it did not pass
	Later     bool   // all its tasks wait for others: these may bring what it lacks
}

// TryChecks runs the checks of the epic and of its tasks that are not completed in clean checkouts of the commit that a
// run would begin from, as a run does before each agent; tasks that have the same list share its run. It returns them in
// the order of the plan, and why checkouts cannot be set up, if so. Only o.Isolation worktree has such checkouts. Errors:
// *InUseError when a run is on; others are failures of this machine.
func TryChecks(ctx context.Context, o Options, l *attempts.Ledger) (tried []TriedCheck, unready string, err error) {
	dir, err := os.MkdirTemp("", "relay-check-")
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o.Dir, o.Run = dir, "check"
	here, err := occupy(ctx, &o)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, here.leave()) }()
	engine, err := openCheckout(ctx, &o, make(chan Heard))
	if err != nil {
		return nil, "", err
	}
	lanes, ok := engine.(*lanes)
	if !ok {
		return nil, "", nil
	}
	defer func() { err = errors.Join(err, lanes.leaveBenches(context.WithoutCancel(ctx))) }()
	base, err := lanes.home.Ref(ctx, lanes.trunk.Ref())
	if err != nil {
		return nil, "", err
	}
	return lanes.try(ctx, firstOf(base, lanes.origin.Base), triedLists(&o, l))
}

// triedList is a list of checks that some tasks have.
type triedList struct {
	a      Assignment // of the first of them
	checks []numbered
	tasks  []string
	later  bool
}

// triedLists are the lists of the epic and of its tasks that are not completed, each once.
func triedLists(o *Options, l *attempts.Ledger) []triedList {
	var lists []triedList
	if len(o.Epic.Checks) > 0 {
		lists = append(lists, triedList{a: Assignment{Run: o.Run}, checks: acceptance(nil, o.Epic.Checks)})
	}
	done := func(i int) bool { rec := l.Tasks[o.Graph.ID(i)]; return rec != nil && rec.Completed }
	for i := range o.Epic.Tasks {
		t := &o.Epic.Tasks[i]
		at, ok := o.Graph.Index(t.ID)
		if !ok || done(at) || len(t.Checks) == 0 {
			continue
		}
		later := slices.ContainsFunc(o.Graph.Deps(at), func(d int) bool { return !done(d) })
		k := slices.IndexFunc(lists, func(known triedList) bool {
			return len(known.tasks) > 0 && slices.EqualFunc(known.checks, t.Checks, func(n numbered, c epic.Check) bool { return n.Check == c })
		})
		if k < 0 {
			lists = append(lists, triedList{a: Assignment{Run: o.Run, Task: *t, Attempt: 1}, checks: acceptance(t.Checks, nil), later: true})
			k = len(lists) - 1
		}
		lists[k].tasks, lists[k].later = append(lists[k].tasks, t.ID), lists[k].later && later
	}
	return lists
}

// try runs lists of checks on a commit, as many at a time as a run has jobs.
func (l *lanes) try(ctx context.Context, base string, lists []triedList) (tried []TriedCheck, unready string, err error) {
	results := make([][]TriedCheck, len(lists))
	var mu sync.Mutex
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(max(1, l.o.Jobs))
	for i, list := range lists {
		group.Go(func() error {
			f := Finding{Result: Result{Outcome: attempts.Success}}
			list.a.Base = base
			b := bench{l: l, q: question{a: list.a, p: placeOf(l.o.Dir, list.a), commit: base, checks: list.checks}}
			defer b.leave()
			_, _, err := b.run(working, &f, func(check numbered, s said) (bool, error) {
				results[i] = append(results[i], l.triedCheck(working, list, check, s, base))
				return true, nil
			})
			mu.Lock()
			defer mu.Unlock()
			unready = firstOf(unready, f.Receipt.ErrorSummary)
			return err
		})
	}
	err = group.Wait()
	return slices.Concat(results...), unready, err
}

func (l *lanes) triedCheck(ctx context.Context, list triedList, check numbered, s said, base string) TriedCheck {
	c := TriedCheck{Check: check.Check, Tasks: list.tasks, Passed: s.passed(), Later: list.later}
	if !c.Passed {
		c.How, c.CannotRun = l.why(check, s), l.remedy(ctx, check, s.run, base)
	}
	return c
}

// leaveBenches removes the checkouts that checks were run in.
func (l *lanes) leaveBenches(ctx context.Context) error {
	ctx, cancel := settling(ctx)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	var failed error
	for name := range l.used {
		failed = errors.Join(failed, l.yard.Remove(ctx, name))
	}
	return failed
}

package worker

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/recordfiles"
	"relay/orchestrator/text"
	"relay/orchestrator/verdict"
)

// TriedCheck is what an acceptance command came to on the commit that a run would begin from.
type TriedCheck struct {
	Check     epic.Check
	Tasks     []string // that have it; none: it is the epic's
	Passed    bool
	CannotRun string // why it could not run at all, whatever an agent does, and what to do about it
	How       string // it ended, when it did not pass
	TimedOut  bool
	Run       attempts.CheckRun
	Later     bool // all its tasks wait for others: these may bring what it lacks
	Hook      bool // it is the user's pre-commit hook, which had nothing to say something of
}

// Tried is what all of them came to.
type Tried struct {
	Checks  []TriedCheck
	Unready string   // why checkouts cannot be set up, if so
	Changed []string // files of the user's checkout, while the checks ran there
}

// TryChecks runs the checks of the epic and of its tasks that are not completed on the commit that a run would begin from.
func (l *Local) TryChecks(ctx context.Context, done *attempts.Ledger) (tried Tried, err error) {
	o := l.run.o
	lists := triedLists(o, done)
	if l.user != nil {
		return l.tryInCheckout(ctx, lists)
	}
	defer func() {
		ctx, cancel := uninterrupted(context.WithoutCancel(ctx))
		defer cancel()
		err = errors.Join(err, l.slots.slots.RemoveAll(ctx))
	}()
	base, err := l.run.home.Ref(ctx, l.slots.integration.Ref())
	if err != nil {
		return tried, err
	}
	base = text.FirstOf(base, l.run.origin.Base)
	if o.Hook != "" {
		hook := checks.Hook(o.Hook, base, base, len(o.Epic.Checks))
		lists = append(lists, triedList{a: engine.Attempt{Run: o.Run}, checks: []checks.Check{hook}, hook: true})
	}
	return l.slots.benches.try(ctx, base, lists)
}

// triedList is a list of checks that some tasks have.
type triedList struct {
	a      engine.Attempt // of the first of them
	checks []checks.Check
	tasks  []string
	later  bool
	hook   bool // with nothing to say something of
}

// triedLists are the lists of the epic and of its tasks that are not completed, each once.
func triedLists(o *engine.LocalOptions, l *attempts.Ledger) []triedList {
	var lists []triedList
	if len(o.Epic.Checks) > 0 {
		lists = append(lists, triedList{a: engine.Attempt{Run: o.Run}, checks: checks.List(nil, o.Epic.Checks)})
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
			return len(known.tasks) > 0 && slices.EqualFunc(known.checks, t.Checks, func(n checks.Check, c epic.Check) bool { return n.Check == c })
		})
		if k < 0 {
			lists = append(lists, triedList{a: engine.Attempt{Run: o.Run, Task: *t, Number: 1}, checks: checks.List(t.Checks, nil), later: true})
			k = len(lists) - 1
		}
		lists[k].tasks, lists[k].later = append(lists[k].tasks, t.ID), lists[k].later && later
	}
	return lists
}

// try runs lists of checks on a commit, as many at a time as a run has jobs.
func (b *benches) try(ctx context.Context, base string, lists []triedList) (tried Tried, err error) {
	results := make([][]TriedCheck, len(lists))
	var mu sync.Mutex
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(max(1, b.run.o.Jobs))
	for i, list := range lists {
		group.Go(func() error {
			var tr trouble
			list.a.Base = base
			in := slotBench{b: b, q: checks.Question{Attempt: list.a, Logs: attemptfiles.Of(b.run.o.Dir, list.a).Checks, Commit: base, Checks: list.checks}}
			defer in.leave()
			_, _, err := in.run(working, &tr, func(check checks.Check, result checks.Result) (bool, error) {
				results[i] = append(results[i], b.run.triedCheck(working, list, check, result, base))
				return true, nil
			})
			mu.Lock()
			defer mu.Unlock()
			tried.Unready = text.FirstOf(tried.Unready, verdict.Unready(tr.Mishap))
			return err
		})
	}
	err = group.Wait()
	tried.Checks = slices.Concat(results...)
	return tried, err
}

// tryInCheckout runs lists of checks in the user's own checkout, one at a time. Their changes stay there: a person may be at
// work.
func (l *Local) tryInCheckout(ctx context.Context, lists []triedList) (tried Tried, err error) {
	c, g := l.user.c, l.run
	before, err := c.repo.Changes(ctx)
	if err != nil {
		return tried, err
	}
	head, err := c.repo.Head(ctx)
	if err != nil {
		return tried, err
	}
	for _, list := range lists {
		for _, check := range list.checks {
			list.a.Base = head
			at := checks.Location{Attempt: list.a, Logs: attemptfiles.Of(g.o.Dir, list.a).Checks, Dir: c.repo.Root()}
			s, err := g.checks.Run(ctx, at, check)
			if err != nil || ctx.Err() != nil {
				return tried, errors.Join(err, ctx.Err())
			}
			tried.Checks = append(tried.Checks, g.triedCheck(ctx, list, check, s, head))
		}
	}
	after, err := c.repo.Changes(ctx)
	for _, change := range recordfiles.Others(ctx, c.repo, after) {
		if change.Code != "??" && !slices.Contains(before, change) {
			tried.Changed = append(tried.Changed, change.Path)
		}
	}
	return tried, err
}

func (g *workspace) triedCheck(ctx context.Context, list triedList, check checks.Check, s checks.Result, base string) TriedCheck {
	c := TriedCheck{Check: check.Check, Tasks: list.tasks, Passed: s.Passed(), Later: list.later, TimedOut: s.TimedOut, Run: s.Run}
	c.Hook = list.hook
	if !c.Passed {
		c.How, c.CannotRun = g.checks.Why(check, s), g.checks.CannotRun(ctx, check, s.Run, base)
	}
	return c
}

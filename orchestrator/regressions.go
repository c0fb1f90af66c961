package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// recheck runs the checks of completed tasks once more on all that has landed, when something has: later work may have
// undone what an earlier task was proved by. It reports whether tasks are pending again because of that, with what failed.
// A task is given back Limits.MaxUndone times; after that, and for checks of the epic, what fails is told and needs a person.
func (n *run) recheck(ctx context.Context, wanted []bool) (again bool, err error) {
	if n.engine.Rechecker == nil || ctx.Err() != nil || n.cutShort() {
		return false, nil
	}
	from, tip := n.engine.Rechecker.Span(ctx)
	if tip == from || tip == n.tally.Tip {
		return false, nil
	}
	ctx, over := n.untilDeadline(ctx)
	defer over()
	r, err := n.regressions(ctx, tip)
	if ctx.Err() != nil || err != nil {
		if ctx.Err() != nil {
			return false, nil // what stopped it is told
		}
		return false, err
	}
	n.tally.Tip, n.tally.Relapsed, n.tally.Undone, n.tally.Unchecked = tip, nil, nil, r.skipped
	return n.giveBack(r, wanted)
}

// regressions are the checks that fail on the tip.
type regressions struct {
	tasks   []regression
	epic    []attempts.Note
	skipped []string // completed tasks whose checks were not run again, for want of time
}

// regression is a completed task one of whose own checks fails on the tip.
type regression struct {
	landedTask
	undone attempts.Undone
	text   string
}

// regressions runs the checks of tasks that landed before tip, and those of the epic. What the landings of this run may have
// touched goes first. When recheckShare of the run's time is over, no further task is begun with.
func (n *run) regressions(ctx context.Context, tip string) (r regressions, err error) {
	done := n.landedBefore(tip)
	if len(done)+len(n.o.Epic.Checks) == 0 {
		return r, nil
	}
	if err := n.engine.Rechecker.BeginRecheck(ctx, n.wholeAssignment(), tip); err != nil {
		return r, err
	}
	defer func() {
		notes, ending := n.engine.Rechecker.EndRecheck(ctx, tip)
		err = errors.Join(err, ending, n.noted(notes))
	}()
	began := n.ran()
	until := began + max(time.Duration(n.o.Limits.RecheckShare*float64(began)), leastRecheck)
	if len(done) > 0 {
		n.withLock(func() {
			n.tell(Update{Kind: UpdateNote, Text: "running the checks of " + text.Count(len(done), "task") + " again on all that has landed"})
		})
	}
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(max(n.o.Jobs, 1))
	for _, task := range done {
		all.Go(func() error {
			if n.ran() >= until {
				mu.Lock()
				defer mu.Unlock()
				r.skipped = append(r.skipped, task.a.Task.ID)
				return nil
			}
			found, err := n.regressed(ctx, task, tip)
			mu.Lock()
			defer mu.Unlock()
			if found != nil {
				r.tasks = append(r.tasks, *found)
			}
			return err
		})
	}
	all.Go(func() (err error) {
		r.epic, err = n.failing(ctx, tip)
		return err
	})
	err = all.Wait()
	slices.SortFunc(r.tasks, func(a, b regression) int { return cmp.Compare(a.at, b.at) })
	slices.Sort(r.skipped)
	return r, err
}

// leastRecheck is how long the checks of completed tasks may be run again after a run, however short it was.
const leastRecheck = 2 * time.Minute

// mostSkipped is how many tasks are named whose checks were not run again.
const mostSkipped = 50

// giveBack records what fails, and makes tasks pending again that may be done once more in this run.
func (n *run) giveBack(r regressions, wanted []bool) (again bool, err error) {
	var notes []attempts.Note
	var events []attempts.Event
	for _, found := range r.tasks {
		id := found.a.Task.ID
		at, _ := n.o.Graph.Index(id)
		text := n.redact.Block(found.text)
		if (wanted == nil || wanted[at]) && n.store.Task(id).TimesUndone() < n.o.Limits.MaxUndone {
			found.undone.Check.Tail = n.redact.Block(found.undone.Check.Tail)
			undone := attempts.Event{Type: attempts.TypeUndone, Task: id, Attempt: found.a.Number, Undone: &found.undone}
			events = append(events, undone)
			notes = append(notes, attempts.Note{Kind: "undone", Text: text + "; " + id + " is to be done again"})
			continue
		}
		n.tally.Undone = append(n.tally.Undone, id)
		n.tally.Relapsed = append(n.tally.Relapsed, text)
		notes = append(notes, attempts.Note{Kind: "relapse", Text: text})
	}
	for _, note := range r.epic {
		n.tally.Relapsed = append(n.tally.Relapsed, n.redact.Block(note.Text))
	}
	notes = append(notes, r.epic...)
	if len(r.skipped) > 0 {
		notes = append(notes, attempts.Note{Kind: "recheck", Text: "not run again on what has landed, for want of time, are the checks of " + text.Some(r.skipped, mostSkipped)})
	}
	if err := n.noted(notes); err != nil || len(events) == 0 {
		return false, err
	}
	if err := n.store.Append(events...); err != nil {
		return false, err
	}
	n.schedule(wanted)
	return true, nil
}

// cutShort reports whether the run ends early.
func (n *run) cutShort() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stopped.reason != "" || n.drained()
}

// regressed runs a task's checks on tip. It returns nil unless one fails, and fails again when it is run once more.
func (n *run) regressed(ctx context.Context, r landedTask, tip string) (*regression, error) {
	failed, err := n.engine.Rechecker.Recheck(ctx, r.a, tip)
	if err != nil || failed == nil {
		return nil, err
	}
	since := n.landedSince(r)
	return &regression{
		landedTask: r, undone: attempts.Undone{At: time.Now().UTC(), Tip: tip, Since: since, Check: failed.Run},
		text: r.fails(failed.Why, since),
	}, nil
}

// failing says which checks of the epic fail on tip: what fails without a task's work too is not held against it. They
// have been asked there, and are asked again only where that is not known.
func (n *run) failing(ctx context.Context, tip string) (notes []attempts.Note, err error) {
	var a engine.Attempt
	n.store.View(func(ledger *attempts.Ledger) {
		for _, t := range n.o.Epic.Tasks {
			if rec := ledger.Tasks[t.ID]; rec != nil && rec.Completed && len(rec.Attempts) > 0 {
				if last := rec.Attempts[len(rec.Attempts)-1]; n.engine.Rechecker.Commit(last) == tip {
					a = engine.Attempt{Run: last.Run, Task: t, Number: last.ID, Base: last.Base}
				}
			}
		}
	})
	if a.Run == "" {
		return nil, nil
	}
	failed, err := n.engine.Rechecker.RecheckEpic(ctx, a, tip)
	for _, check := range failed {
		notes = append(notes, attempts.Note{Kind: "relapse", Text: "a check of the epic fails on what has landed: " + check.Why})
	}
	return notes, err
}

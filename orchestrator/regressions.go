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
func (r *run) recheck(ctx context.Context, wanted []bool) (again bool, err error) {
	if r.engine.Rechecker == nil || ctx.Err() != nil || r.cutShort() {
		return false, nil
	}
	from, tip := r.engine.Rechecker.Span(ctx)
	if tip == from || tip == r.tally.Tip {
		return false, nil
	}
	ctx, over := r.untilDeadline(ctx)
	defer over()
	found, err := r.regressions(ctx, tip)
	if ctx.Err() != nil || err != nil {
		if ctx.Err() != nil {
			return false, nil // what stopped it is told
		}
		return false, err
	}
	r.tally.Tip, r.tally.Relapsed, r.tally.Undone, r.tally.Unchecked = tip, nil, nil, found.skipped
	return r.giveBack(found, wanted)
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
func (r *run) regressions(ctx context.Context, tip string) (result regressions, err error) {
	done := r.landedBefore(tip)
	if len(done)+len(r.o.Epic.Checks) == 0 {
		return result, nil
	}
	if err := r.engine.Rechecker.BeginRecheck(ctx, r.wholeAssignment(), tip); err != nil {
		return result, err
	}
	defer func() {
		notes, ending := r.engine.Rechecker.EndRecheck(ctx, tip)
		err = errors.Join(err, ending, r.recordNotes(notes))
	}()
	began := r.ran()
	until := began + max(time.Duration(r.o.Limits.RecheckShare*float64(began)), leastRecheck)
	if len(done) > 0 {
		r.withLock(func() {
			r.tell(Update{Kind: UpdateNote, Text: "running the checks of " + text.Count(len(done), "task") + " again on all that has landed"})
		})
	}
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(max(r.o.Jobs, 1))
	for _, task := range done {
		all.Go(func() error {
			if r.ran() >= until {
				mu.Lock()
				defer mu.Unlock()
				result.skipped = append(result.skipped, task.a.Task.ID)
				return nil
			}
			found, err := r.regressed(ctx, task, tip)
			mu.Lock()
			defer mu.Unlock()
			if found != nil {
				result.tasks = append(result.tasks, *found)
			}
			return err
		})
	}
	all.Go(func() (err error) {
		result.epic, err = r.failing(ctx, tip)
		return err
	})
	err = all.Wait()
	slices.SortFunc(result.tasks, func(a, b regression) int { return cmp.Compare(a.at, b.at) })
	slices.Sort(result.skipped)
	return result, err
}

// leastRecheck is how long the checks of completed tasks may be run again after a run, however short it was.
const leastRecheck = 2 * time.Minute

// mostSkipped is how many tasks are named whose checks were not run again.
const mostSkipped = 50

// giveBack records what fails, and makes tasks pending again that may be done once more in this run.
func (r *run) giveBack(all regressions, wanted []bool) (again bool, err error) {
	var notes []attempts.Note
	var events []attempts.Event
	for _, found := range all.tasks {
		id := found.a.Task.ID
		at, _ := r.o.Graph.Index(id)
		text := r.redact.Block(found.text)
		if (wanted == nil || wanted[at]) && r.store.Task(id).TimesUndone() < r.o.Limits.MaxUndone {
			found.undone.Check.Tail = r.redact.Block(found.undone.Check.Tail)
			undone := attempts.Event{Type: attempts.TypeUndone, Task: id, Attempt: found.a.Number, Undone: &found.undone}
			events = append(events, undone)
			notes = append(notes, attempts.Note{Kind: "undone", Text: text + "; " + id + " is to be done again"})
			continue
		}
		r.tally.Undone = append(r.tally.Undone, id)
		r.tally.Relapsed = append(r.tally.Relapsed, text)
		notes = append(notes, attempts.Note{Kind: "relapse", Text: text})
	}
	for _, note := range all.epic {
		r.tally.Relapsed = append(r.tally.Relapsed, r.redact.Block(note.Text))
	}
	notes = append(notes, all.epic...)
	if len(all.skipped) > 0 {
		notes = append(notes, attempts.Note{Kind: "recheck", Text: "not run again on what has landed, for want of time, are the checks of " + text.Some(all.skipped, mostSkipped)})
	}
	if err := r.recordNotes(notes); err != nil || len(events) == 0 {
		return false, err
	}
	if err := r.store.Append(events...); err != nil {
		return false, err
	}
	r.schedule(wanted)
	return true, nil
}

// cutShort reports whether the run ends early.
func (r *run) cutShort() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped.reason != "" || r.drained()
}

// regressed runs a task's checks on tip. It returns nil unless one fails, and fails again when it is run once more.
func (r *run) regressed(ctx context.Context, task landedTask, tip string) (*regression, error) {
	failed, err := r.engine.Rechecker.Recheck(ctx, task.a, tip)
	if err != nil || failed == nil {
		return nil, err
	}
	since := r.landedSince(task)
	return &regression{
		landedTask: task, undone: attempts.Undone{At: time.Now().UTC(), Tip: tip, Since: since, Check: failed.Run},
		text: task.fails(failed.Why, since),
	}, nil
}

// failing says which checks of the epic fail on tip: what fails without a task's work too is not held against it. They
// have been asked there, and are asked again only where that is not known.
func (r *run) failing(ctx context.Context, tip string) (notes []attempts.Note, err error) {
	var a engine.Attempt
	r.store.View(func(ledger *attempts.Ledger) {
		for _, t := range r.o.Epic.Tasks {
			if rec := ledger.Tasks[t.ID]; rec != nil && rec.Completed && len(rec.Attempts) > 0 {
				if last := rec.Attempts[len(rec.Attempts)-1]; r.engine.Rechecker.Commit(last) == tip {
					a = engine.Attempt{Run: last.Run, Task: t, Number: last.ID, Base: last.Base}
				}
			}
		}
	})
	if a.Run == "" {
		return nil, nil
	}
	failed, err := r.engine.Rechecker.RecheckEpic(ctx, a, tip)
	for _, check := range failed {
		notes = append(notes, attempts.Note{Kind: "relapse", Text: "a check of the epic fails on what has landed: " + check.Why})
	}
	return notes, err
}

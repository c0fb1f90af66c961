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

// rechecker runs the checks of completed tasks again on all that has landed.
type rechecker struct {
	state  *state
	limits *limits
}

// recheck runs the checks of completed tasks again if something has landed, as later work may have broken earlier work. It
// reports whether tasks are pending again because of that. A task is given back MaxUndone times; after that, and for checks of
// the epic, a failure is recorded for a person.
func (k *rechecker) recheck(ctx context.Context, wanted []bool) (again bool, err error) {
	if k.state.engine.Rechecker == nil || ctx.Err() != nil || k.limits.cutShort() {
		return false, nil
	}
	from, tip := k.state.engine.Rechecker.Span(ctx)
	if tip == from || tip == k.state.tally.Tip {
		return false, nil
	}
	ctx, over := k.limits.untilDeadline(ctx)
	defer over()
	found, err := k.regressions(ctx, tip)
	if ctx.Err() != nil || err != nil {
		if ctx.Err() != nil {
			return false, nil // what stopped it is told
		}
		return false, err
	}
	k.state.tally.Tip, k.state.tally.Relapsed, k.state.tally.Undone, k.state.tally.Unchecked = tip, nil, nil, found.skipped
	return k.giveBack(found, wanted)
}

// regressions are the checks that fail on the tip.
type regressions struct {
	tasks   []regression
	epic    []attempts.Note
	skipped []string // completed tasks whose checks were not run again, for want of time
}

// regression is a completed task with a check of its own that fails on the tip.
type regression struct {
	landedTask
	undone attempts.Undone
	text   string
}

// regressions runs the checks of tasks that landed before tip, and those of the epic. After RecheckShare of the run's time, and
// leastRecheck at least, the tasks that are left are skipped.
func (k *rechecker) regressions(ctx context.Context, tip string) (result regressions, err error) {
	done := k.landedBefore(tip)
	if len(done)+len(k.state.o.Epic.Checks) == 0 {
		return result, nil
	}
	if err := k.state.engine.Rechecker.BeginRecheck(ctx, k.state.wholeEpicAttempt(), tip); err != nil {
		return result, err
	}
	defer func() {
		notes, ending := k.state.engine.Rechecker.EndRecheck(ctx, tip)
		err = errors.Join(err, ending, k.state.recordNotes(notes))
	}()
	began := k.state.ran()
	until := began + max(time.Duration(k.state.o.Limits.RecheckShare*float64(began)), leastRecheck)
	if len(done) > 0 {
		k.state.withLock(func() {
			k.state.notify(Update{Kind: UpdateNote, Text: "running the checks of " + text.Count(len(done), "task") + " again on all that has landed"})
		})
	}
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(max(k.state.o.Jobs, 1))
	for _, task := range done {
		all.Go(func() error {
			if k.state.ran() >= until {
				mu.Lock()
				defer mu.Unlock()
				result.skipped = append(result.skipped, task.a.Task.ID)
				return nil
			}
			found, err := k.regressed(ctx, task, tip)
			mu.Lock()
			defer mu.Unlock()
			if found != nil {
				result.tasks = append(result.tasks, *found)
			}
			return err
		})
	}
	all.Go(func() (err error) {
		result.epic, err = k.failing(ctx, tip)
		return err
	})
	err = all.Wait()
	slices.SortFunc(result.tasks, func(a, b regression) int { return cmp.Compare(a.at, b.at) })
	slices.Sort(result.skipped)
	return result, err
}

// leastRecheck is how long checks of completed tasks may be run again at the end of a run, however short it was.
const leastRecheck = 2 * time.Minute

// mostSkipped is how many tasks are named whose checks were not run again.
const mostSkipped = 50

// giveBack records what fails, and makes those tasks pending again that may be done once more in this run.
func (k *rechecker) giveBack(all regressions, wanted []bool) (again bool, err error) {
	var notes []attempts.Note
	var events []attempts.Event
	for _, found := range all.tasks {
		id := found.a.Task.ID
		at, _ := k.state.o.Graph.Index(id)
		text := k.state.redact.Block(found.text)
		if (wanted == nil || wanted[at]) && k.state.store.Task(id).TimesUndone() < k.state.o.Limits.MaxUndone {
			found.undone.Check.Tail = k.state.redact.Block(found.undone.Check.Tail)
			undone := attempts.Event{Type: attempts.TypeUndone, Task: id, Attempt: found.a.Number, Undone: &found.undone}
			events = append(events, undone)
			notes = append(notes, attempts.Note{Kind: "undone", Text: text + "; " + id + " is to be done again"})
			continue
		}
		k.state.tally.Undone = append(k.state.tally.Undone, id)
		k.state.tally.Relapsed = append(k.state.tally.Relapsed, text)
		notes = append(notes, attempts.Note{Kind: "relapse", Text: text})
	}
	for _, note := range all.epic {
		k.state.tally.Relapsed = append(k.state.tally.Relapsed, k.state.redact.Block(note.Text))
	}
	notes = append(notes, all.epic...)
	if len(all.skipped) > 0 {
		notes = append(notes, attempts.Note{Kind: "recheck", Text: "not run again on what has landed, for want of time, are the checks of " + text.Some(all.skipped, mostSkipped)})
	}
	if err := k.state.recordNotes(notes); err != nil || len(events) == 0 {
		return false, err
	}
	if err := k.state.store.Append(events...); err != nil {
		return false, err
	}
	k.state.planTasks(wanted)
	return true, nil
}

// regressed runs a task's checks on tip. It returns nil unless one fails, and fails again when it is run once more.
func (k *rechecker) regressed(ctx context.Context, task landedTask, tip string) (*regression, error) {
	failed, err := k.state.engine.Rechecker.Recheck(ctx, task.a, tip)
	if err != nil || failed == nil {
		return nil, err
	}
	since := k.landedSince(task)
	return &regression{
		landedTask: task, undone: attempts.Undone{At: time.Now().UTC(), Tip: tip, Since: since, Check: failed.Run},
		text: task.fails(failed.Why, since),
	}, nil
}

// failing returns, as notes, the checks of the epic that fail on tip because of the epic's work.
func (k *rechecker) failing(ctx context.Context, tip string) (notes []attempts.Note, err error) {
	var a engine.Attempt
	k.state.store.View(func(ledger *attempts.Ledger) {
		for _, t := range k.state.o.Epic.Tasks {
			if rec := ledger.Tasks[t.ID]; rec != nil && rec.Completed && len(rec.Attempts) > 0 {
				if last := rec.Attempts[len(rec.Attempts)-1]; k.state.engine.Rechecker.Commit(last) == tip {
					a = engine.Attempt{Run: last.Run, Task: t, Number: last.ID, Base: last.Base}
				}
			}
		}
	})
	if a.Run == "" {
		return nil, nil
	}
	failed, err := k.state.engine.Rechecker.RecheckEpic(ctx, a, tip)
	for _, check := range failed {
		notes = append(notes, attempts.Note{Kind: "relapse", Text: "a check of the epic fails on what has landed: " + check.Why})
	}
	return notes, err
}

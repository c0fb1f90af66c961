package orchestrator

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator/regression"
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
	if tip == from || tip == k.state.summary.Tip {
		return false, nil
	}
	ctx, over := k.limits.untilDeadline(ctx)
	defer over()
	found, err := k.find(ctx, tip)
	if ctx.Err() != nil || err != nil {
		if ctx.Err() != nil {
			return false, nil // what stopped it is told
		}
		return false, err
	}
	k.state.summary.Tip, k.state.summary.Regressed, k.state.summary.Undone, k.state.summary.Unchecked = tip, nil, nil, found.Skipped
	return k.giveBack(found, wanted)
}

// find runs the checks again, and records what had to be put right afterwards.
func (k *rechecker) find(ctx context.Context, tip string) (regression.Found, error) {
	s := k.state
	f := regression.Finder{
		Epic: s.o.Epic, Run: s.o.Run, Jobs: s.o.Jobs, Share: s.o.Limits.RecheckShare, View: s.store.View, Checker: s.engine.Rechecker, Ran: s.ran,
		Begins: func(tasks int) {
			s.withLock(func() {
				s.notify(Update{Kind: UpdateNote, Text: "running the checks of " + text.Count(tasks, "task") + " again on all that has landed"})
			})
		},
	}
	found, err := f.Find(ctx, s.wholeEpic(), tip)
	return found, errors.Join(err, s.recordNotes(found.Notes))
}

// mostSkipped is how many tasks are named whose checks were not run again.
const mostSkipped = 50

// giveBack records what fails, and makes those tasks pending again that may be done once more in this run.
func (k *rechecker) giveBack(all regression.Found, wanted []bool) (again bool, err error) {
	var notes []attempts.Note
	var events []attempts.Event
	for _, found := range all.Tasks {
		id := found.Attempt.Task.ID
		at, _ := k.state.o.Graph.Index(id)
		text := k.state.redact.Block(found.Text)
		if (wanted == nil || wanted[at]) && k.state.store.Task(id).TimesUndone() < k.state.o.Limits.MaxUndone {
			found.Undone.Check.Tail = k.state.redact.Block(found.Undone.Check.Tail)
			undone := attempts.Event{Type: attempts.TypeUndone, Task: id, Attempt: found.Attempt.Number, Undone: &found.Undone}
			events = append(events, undone)
			notes = append(notes, attempts.Note{Kind: "undone", Text: text + "; " + id + " is to be done again"})
			continue
		}
		k.state.summary.Undone = append(k.state.summary.Undone, id)
		k.state.summary.Regressed = append(k.state.summary.Regressed, text)
		notes = append(notes, attempts.Note{Kind: "relapse", Text: text})
	}
	for _, note := range all.Epic {
		k.state.summary.Regressed = append(k.state.summary.Regressed, k.state.redact.Block(note.Text))
	}
	notes = append(notes, all.Epic...)
	if len(all.Skipped) > 0 {
		notes = append(notes, attempts.Note{Kind: "recheck", Text: "not run again on what has landed, for want of time, are the checks of " + text.Some(all.Skipped, mostSkipped)})
	}
	if err := k.state.recordNotes(notes); err != nil || len(events) == 0 {
		return false, err
	}
	k.state.carrySteps(events)
	if err := k.state.store.Append(events...); err != nil {
		return false, err
	}
	k.state.planTasks(wanted)
	return true, nil
}

package orchestrator

import (
	"context"
	"errors"
	"slices"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/checks"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// rechecker runs the checks of completed tasks again on all that has landed.
type rechecker struct {
	state  *state
	limits *decide.Limits
}

// recheck runs the checks of completed tasks again if something has landed, as later work may have broken earlier work. It
// reports whether tasks are pending again because of that. A task is given back MaxUndone times; after that, and for checks of
// the epic, a failure is recorded for a person.
func (k *rechecker) recheck(ctx context.Context, wanted []bool) (again bool, err error) {
	tip := k.due(ctx)
	if tip == "" {
		return false, nil
	}
	ctx, over := untilDeadline(ctx, k.state, k.limits)
	defer over()
	found, err := k.find(ctx, tip)
	if ctx.Err() != nil || err != nil {
		if ctx.Err() != nil {
			return false, nil // the run reports what stopped it
		}
		return false, err
	}
	k.state.Summary.Tip, k.state.Summary.Regressed, k.state.Summary.Undone = tip, nil, nil
	return k.giveBack(found, wanted)
}

// due returns the commit on which checks are to run again; "": none.
func (k *rechecker) due(ctx context.Context) string {
	if k.state.engine.Rechecker == nil || ctx.Err() != nil || k.limits.CutShort() {
		return ""
	}
	if from, tip := k.state.engine.Rechecker.Span(ctx); tip != from && tip != k.state.Summary.Tip {
		return tip
	}
	return ""
}

// find runs the checks again, and records what had to be put right afterwards.
func (k *rechecker) find(ctx context.Context, tip string) (checks.Regression, error) {
	s := k.state
	f := checks.RegressionFinder{
		Epic: s.o.Epic, Jobs: s.o.Jobs, Share: s.o.Limits.RecheckShare, View: s.store.View, Checker: s.engine.Rechecker, Ran: s.Ran,
		Begins: func(tasks int) {
			s.WithLock(func() {
				about := plaintext.Count(tasks, "task")
				s.Notify(decide.Update{Kind: decide.Note, Text: "running the checks of " + about + " again on all that has landed"})
			})
		},
	}
	found, err := f.Find(ctx, wholeEpic(s), tip)
	proved := each.Of(found.Proved, func(a engine.Attempt) attempts.Event {
		text := a.Task.ID + " no longer needs a look: with its code emptied, checks fail on what has landed"
		return attempts.Event{Type: attempts.TypeProved, Task: a.Task.ID, Attempt: a.Number, Note: &attempts.Note{Kind: "proved", Text: text}}
	})
	return found, errors.Join(err, s.recordNotes(found.Notes, proved...))
}

// theEpic stands for the epic's own checks beside the ids of tasks.
const theEpic = "the epic"

// mostSkipped is how many tasks are named whose checks were not run again.
const mostSkipped = 50

// giveBack records what fails, and makes those tasks pending again that may be done again in this run.
func (k *rechecker) giveBack(all checks.Regression, wanted []bool) (again bool, err error) {
	var notes []attempts.Note
	var events []attempts.Event
	for _, found := range all.Tasks {
		id := found.Attempt.Task.ID
		at, _ := k.state.o.Graph.Index(id)
		text := k.state.Redact.Block(found.Text)
		if (wanted == nil || wanted[at]) && k.state.store.Task(id).TimesUndone() < k.state.o.Limits.MaxUndone {
			found.Undone.Check.Tail = k.state.Redact.Block(found.Undone.Check.Tail)
			undone := attempts.Event{Type: attempts.TypeUndone, Task: id, Attempt: found.Attempt.Number, Undone: &found.Undone}
			events = append(events, undone)
			notes = append(notes, attempts.Note{Kind: "undone", Text: text + "; " + id + " is to be done again"})
			continue
		}
		k.state.Summary.Undone = append(k.state.Summary.Undone, id)
		k.state.Summary.Regressed = append(k.state.Summary.Regressed, text)
		notes = append(notes, attempts.Note{Kind: "relapse", Text: text})
	}
	for _, note := range all.Epic {
		k.state.Summary.Regressed = append(k.state.Summary.Regressed, k.state.Redact.Block(note.Text))
		if note.Kind == "relapse" && !slices.Contains(k.state.Summary.Undone, theEpic) {
			k.state.Summary.Undone = append(k.state.Summary.Undone, theEpic)
		}
	}
	notes = append(notes, all.Epic...)
	if len(all.Skipped) > 0 {
		notes = append(notes, attempts.Note{Kind: "recheck", Text: "not run again on what has landed, for want of time, are the checks of " + plaintext.Some(all.Skipped, mostSkipped)})
	}
	if err := k.state.recordNotes(notes); err != nil || len(events) == 0 {
		return false, err
	}
	if err := k.state.store.Append(k.state.CarrySteps(events...)...); err != nil {
		return false, err
	}
	k.state.PlanTasks(wanted)
	return true, nil
}

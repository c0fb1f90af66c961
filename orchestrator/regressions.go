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
	"relay/orchestrator/text"
)

// recheck runs the checks of completed tasks once more on all that has landed, when something has: later work may have
// undone what an earlier task was proved by. It reports whether tasks are pending again because of that, with what failed.
// A task is given back Limits.MaxUndone times; after that, and for checks of the epic, what fails is told and needs a person.
func (n *night) recheck(ctx context.Context, c local, wanted []bool) (again bool, err error) {
	l, ok := c.(rechecker)
	if !ok || ctx.Err() != nil || n.cutShort() {
		return false, nil
	}
	from, tip := l.span(ctx)
	if tip == from || tip == n.tally.Tip {
		return false, nil
	}
	ctx, over := n.untilDeadline(ctx)
	defer over()
	r, err := n.regressions(ctx, l, tip)
	if ctx.Err() != nil || err != nil {
		if ctx.Err() != nil {
			return false, nil // what stopped it is told
		}
		return false, err
	}
	n.tally.Tip, n.tally.Relapsed, n.tally.Undone, n.tally.Unchecked = tip, nil, nil, r.skipped
	return n.giveBack(r, wanted)
}

// rechecker is an engine in which each completed task's work is in commits of one branch.
type rechecker interface {
	local
	// span is where the branch was when the run began, and its tip: the same when there is nothing to run again.
	span(ctx context.Context) (from, tip string)
	// commitOf is the commit of the branch that has an attempt's work; "": none.
	commitOf(a *attempts.Attempt) string
	// ask runs checks on a commit until hear has heard enough. What they change there is put back.
	ask(ctx context.Context, q question, f *Finding, hear ear) error
	// why says how a check that does not pass ended.
	why(check numbered, s said) string
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
func (n *night) regressions(ctx context.Context, l rechecker, tip string) (r regressions, err error) {
	done := n.landedBefore(l, tip)
	if len(done)+len(n.o.Epic.Checks) == 0 {
		return r, nil
	}
	if err := l.beginJudging(n.wholeAssignment(), tip); err != nil {
		return r, err
	}
	defer func() {
		f := Finding{Result: Result{Outcome: attempts.Success, Head: tip}}
		err = errors.Join(err, l.cleanUp(ctx, &f), n.noted(f.Notes))
	}()
	began := n.ran()
	until := began + max(time.Duration(n.o.Limits.RecheckShare*float64(began)), leastRecheck)
	if len(done) > 0 {
		n.locked(func() {
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
			found, err := n.regressed(ctx, l, task, tip)
			mu.Lock()
			defer mu.Unlock()
			if found != nil {
				r.tasks = append(r.tasks, *found)
			}
			return err
		})
	}
	all.Go(func() (err error) {
		r.epic, err = n.failing(ctx, l, tip)
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
func (n *night) giveBack(r regressions, wanted []bool) (again bool, err error) {
	var notes []attempts.Note
	var events []attempts.Event
	for _, found := range r.tasks {
		id := found.a.Task.ID
		at, _ := n.o.Graph.Index(id)
		text := n.redact.text(found.text)
		if (wanted == nil || wanted[at]) && n.store.Task(id).TimesUndone() < n.o.Limits.MaxUndone {
			found.undone.Check.Tail = n.redact.text(found.undone.Check.Tail)
			undone := attempts.Event{Type: attempts.TypeUndone, Task: id, Attempt: found.a.Attempt, Undone: &found.undone}
			events = append(events, undone)
			notes = append(notes, attempts.Note{Kind: "undone", Text: text + "; " + id + " is to be done again"})
			continue
		}
		n.tally.Undone = append(n.tally.Undone, id)
		n.tally.Relapsed = append(n.tally.Relapsed, text)
		notes = append(notes, attempts.Note{Kind: "relapse", Text: text})
	}
	for _, note := range r.epic {
		n.tally.Relapsed = append(n.tally.Relapsed, n.redact.text(note.Text))
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
func (n *night) cutShort() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.halted.reason != "" || n.drained()
}

// regressed runs a task's checks on tip. It returns nil unless one fails, and fails again when it is asked once more.
func (n *night) regressed(ctx context.Context, l rechecker, r landedTask, tip string) (found *regression, err error) {
	q := question{a: r.a, p: placeOf(n.o.Dir, r.a), commit: tip, checks: acceptance(r.a.Task.Checks, nil)}
	for i := range q.checks {
		q.checks[i].occasion = onEnd
	}
	for _, q.anew = range []bool{false, true} {
		found = nil
		f := Finding{Result: Result{Outcome: attempts.Success, Head: tip}}
		err = l.ask(ctx, q, &f, func(check numbered, s said) (bool, error) {
			if s.passed() {
				return true, nil
			}
			since := n.landedSince(l, r)
			found = &regression{
				landedTask: r, undone: attempts.Undone{At: time.Now().UTC(), Tip: tip, Since: since, Check: s.run},
				text: r.fails(l.why(check, s), since),
			}
			return false, nil
		})
		if err != nil || found == nil {
			break
		}
	}
	return found, err
}

// failing says which checks of the epic fail on tip: what fails without a task's work too is not held against it. They
// have been asked there, and are asked again only where that is not known.
func (n *night) failing(ctx context.Context, l rechecker, tip string) (notes []attempts.Note, err error) {
	var q question
	n.store.View(func(ledger *attempts.Ledger) {
		for _, t := range n.o.Epic.Tasks {
			if rec := ledger.Tasks[t.ID]; rec != nil && rec.Completed && len(rec.Attempts) > 0 {
				if last := &rec.Attempts[len(rec.Attempts)-1]; l.commitOf(last) == tip {
					q.a = Assignment{Run: last.Run, Task: t, Attempt: last.ID, Base: last.Base}
				}
			}
		}
	})
	if q.a.Run == "" {
		return nil, nil
	}
	q.p, q.commit, q.checks, q.before = placeOf(n.o.Dir, q.a), tip, acceptance(nil, n.o.Epic.Checks), true
	for i := range q.checks {
		q.checks[i].occasion = onEnd
	}
	f := Finding{Result: Result{Outcome: attempts.Success, Head: tip}}
	err = l.ask(ctx, q, &f, func(check numbered, s said) (bool, error) {
		if !s.passed() {
			notes = append(notes, attempts.Note{Kind: "relapse", Text: "a check of the epic fails on what has landed: " + l.why(check, s)})
		}
		return true, nil
	})
	return notes, err
}

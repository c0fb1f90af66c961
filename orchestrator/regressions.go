package orchestrator

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/words"
)

// recheck runs the checks of completed tasks once more on all that has landed, when something has: later work may have
// undone what an earlier task was proved by. It reports whether tasks are pending again because of that, with what failed.
// A task is given back Limits.MaxUndone times; after that, and for checks of the epic, what fails is told and needs a person.
func (n *night) recheck(ctx context.Context, c local, wanted []bool) (again bool, err error) {
	l, lands := c.(*lanes)
	if !lands || ctx.Err() != nil || n.cutShort() {
		return false, nil
	}
	tip := l.tips.Tip()
	if tip == l.from || tip == n.tally.Tip {
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
func (n *night) regressions(ctx context.Context, l *lanes, tip string) (regressions, error) {
	done := n.landedBefore(tip)
	began := n.ran()
	until := began + max(time.Duration(n.o.Limits.RecheckShare*float64(began)), leastRecheck)
	if len(done) > 0 {
		n.locked(func() {
			n.tell(Update{Kind: UpdateNote, Text: "running the checks of " + words.Count(len(done), "task") + " again on all that has landed"})
		})
	}
	var r regressions
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
			found, err := l.regressed(ctx, task, tip)
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
	err := all.Wait()
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
		notes = append(notes, attempts.Note{Kind: "recheck", Text: "not run again on what has landed, for want of time, are the checks of " + words.Some(r.skipped, mostSkipped)})
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

// landedTask is a completed task with the commit that has its work.
type landedTask struct {
	a       Assignment
	at      int // in the plan
	landed  string
	when    time.Time
	files   []string
	touched bool // work that landed later in this run has changed files that may matter to it
}

// landedBefore lists the completed tasks that landed before tip, and of those with the same checks the first; those first
// whose files were touched since. What has just been asked on tip is left out: the epic's checks, and those of what has
// landed last.
func (n *night) landedBefore(tip string) (list []landedTask) {
	asked, ofEpic := make(map[string]bool), commands(n.o.Epic.Checks)
	whole := func(checks []epic.Check) string { return strings.Join(commands(checks), "\x00") }
	var late []landedTask // in this run
	n.store.View(func(l *attempts.Ledger) {
		for i, t := range n.o.Epic.Tasks {
			rec := l.Tasks[t.ID]
			if rec == nil || !rec.Completed || len(rec.Attempts) == 0 {
				continue
			}
			last := &rec.Attempts[len(rec.Attempts)-1]
			a := Assignment{Run: last.Run, Task: t, Attempt: last.ID, Base: last.Base}
			one := landedTask{a: a, at: i, landed: last.Landed, when: last.EndedAt, files: last.Receipt.FilesChanged}
			if last.Run == n.o.Run {
				late = append(late, one)
			}
			switch last.Landed {
			case "":
			case tip:
				asked[whole(t.Checks)] = true
			default:
				list = append(list, one)
			}
		}
	})
	list = slices.DeleteFunc(list, func(r landedTask) bool {
		checks := r.a.Task.Checks
		known := asked[whole(checks)] || !slices.ContainsFunc(checks, func(c epic.Check) bool { return !slices.Contains(ofEpic, c.Run) })
		asked[whole(checks)] = true
		return known
	})
	for i := range list {
		list[i].touched = slices.ContainsFunc(late, list[i].touchedBy)
	}
	slices.SortStableFunc(list, func(a, b landedTask) int {
		switch {
		case a.touched == b.touched:
			return 0
		case a.touched:
			return -1
		}
		return 1
	})
	return list
}

// touchedBy reports whether later work has changed a file that r changed or declares, one beside such a file, or one that a
// check of r names.
func (r landedTask) touchedBy(later landedTask) bool {
	if later.at == r.at || later.when.Before(r.when) {
		return false
	}
	return slices.ContainsFunc(later.files, func(file string) bool {
		beside := func(own string) bool { return path.Dir(own) == path.Dir(file) }
		named := func(c epic.Check) bool { return strings.Contains(c.Run, path.Base(file)) }
		return slices.ContainsFunc(r.files, beside) || slices.ContainsFunc(r.a.Task.Checks, named) ||
			slices.ContainsFunc(r.a.Task.Files, func(glob string) bool { return covers(glob, file) })
	})
}

func commands(checks []epic.Check) (runs []string) {
	for _, check := range checks {
		runs = append(runs, check.Run)
	}
	return runs
}

// fails says that a check of the task fails, and what has landed since the task did.
func (r landedTask) fails(why string, since []string) string {
	return "a check of " + r.a.Task.ID + " fails by now: " + why + " (landed since: " + firstOf(words.Listed(since), "a person's commits") + ")"
}

// regressed runs a task's checks on tip. It returns nil unless one fails, and fails again when it is asked once more.
func (l *lanes) regressed(ctx context.Context, r landedTask, tip string) (found *regression, err error) {
	q := question{a: r.a, p: placeOf(l.o.Dir, r.a), commit: tip, checks: acceptance(r.a.Task.Checks, nil)}
	for i := range q.checks {
		q.checks[i].occasion = onEnd
	}
	for _, q.anew = range []bool{false, true} {
		found = nil
		f := Finding{Result: Result{Outcome: attempts.Success}}
		err = l.ask(ctx, q, &f, func(check numbered, s said) (bool, error) {
			if s.passed() {
				return true, nil
			}
			since, err := l.landed(ctx, r.landed, tip)
			found = &regression{
				landedTask: r, undone: attempts.Undone{At: time.Now().UTC(), Tip: tip, Since: since, Check: s.run},
				text: r.fails(l.why(check, s), since),
			}
			return false, err
		})
		if err != nil || found == nil {
			break
		}
	}
	return found, err
}

// failing says which checks of the epic fail on tip: what fails without a task's work too is not held against it. They
// have been asked there, and are asked again only where that is not known.
func (n *night) failing(ctx context.Context, l *lanes, tip string) (notes []attempts.Note, err error) {
	var q question
	n.store.View(func(ledger *attempts.Ledger) {
		for _, t := range n.o.Epic.Tasks {
			if rec := ledger.Tasks[t.ID]; rec != nil && rec.Completed && len(rec.Attempts) > 0 {
				if last := rec.Attempts[len(rec.Attempts)-1]; last.Landed == tip {
					q.a = Assignment{Run: last.Run, Task: t, Attempt: last.ID, Base: last.Base}
				}
			}
		}
	})
	if q.a.Run == "" {
		return nil, nil
	}
	q.p, q.commit, q.checks, q.before = placeOf(l.o.Dir, q.a), tip, acceptance(nil, l.o.Epic.Checks), true
	for i := range q.checks {
		q.checks[i].occasion = onEnd
	}
	f := Finding{Result: Result{Outcome: attempts.Success}}
	err = l.ask(ctx, q, &f, func(check numbered, s said) (bool, error) {
		if !s.passed() {
			notes = append(notes, attempts.Note{Kind: "relapse", Text: "a check of the epic fails on what has landed: " + l.why(check, s)})
		}
		return true, nil
	})
	return notes, err
}

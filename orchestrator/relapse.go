package orchestrator

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic"
)

// relapses runs the checks of completed tasks on all that has landed, at the end of a run in which something has: a later
// task may have undone what an earlier one was proved by. The tasks stay completed, for nobody but a person can say whether
// the later one was meant to; what fails is told, and so are checks of the epic.
func (n *night) relapses(ctx context.Context, c local) error {
	l, lands := c.(*lanes)
	if !lands || ctx.Err() != nil || n.cutShort() {
		return nil
	}
	tip := l.tips.Tip()
	if tip == l.from {
		return nil
	}
	ctx, over := n.untilDeadline(ctx)
	defer over()
	done := n.landedBefore(tip)
	found := make([][]attempts.Note, len(done)+1)
	var all errgroup.Group
	all.SetLimit(max(n.o.Jobs, 1))
	for i := range done {
		all.Go(func() (err error) {
			found[i], err = l.relapsed(ctx, done[i], tip)
			return err
		})
	}
	all.Go(func() (err error) {
		found[len(done)], err = n.failing(ctx, l, tip)
		return err
	})
	if err := all.Wait(); ctx.Err() != nil || err != nil {
		if ctx.Err() != nil {
			return nil // what stopped it is told
		}
		return err
	}
	n.tally.Tip = tip
	notes := slices.Concat(found...)
	err := n.noted(notes) // without secrets from now on
	for _, note := range notes {
		n.tally.Relapsed = append(n.tally.Relapsed, note.Text)
	}
	return err
}

// cutShort reports whether the run ends early.
func (n *night) cutShort() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.halted.reason != "" || n.drained()
}

// bygone is a completed task with the commit that has its work.
type bygone struct {
	a      Assignment
	landed string
}

// landedBefore lists the completed tasks that landed before tip, and of those with the same checks the first. What has just
// been asked on it is left out: the epic's checks, and those of what has landed last.
func (n *night) landedBefore(tip string) (list []bygone) {
	asked, ofEpic := make(map[string]bool), commands(n.o.Epic.Checks)
	whole := func(checks []epic.Check) string { return strings.Join(commands(checks), "\x00") }
	n.store.View(func(l *attempts.Ledger) {
		for _, t := range n.o.Epic.Tasks {
			rec := l.Tasks[t.ID]
			if rec == nil || !rec.Completed || len(rec.Attempts) == 0 {
				continue
			}
			switch last := rec.Attempts[len(rec.Attempts)-1]; last.Landed {
			case "":
			case tip:
				asked[whole(t.Checks)] = true
			default:
				list = append(list, bygone{Assignment{Run: last.Run, Task: t, Attempt: last.ID, Base: last.Base}, last.Landed})
			}
		}
	})
	return slices.DeleteFunc(list, func(r bygone) bool {
		checks := r.a.Task.Checks
		known := asked[whole(checks)] || !slices.ContainsFunc(checks, func(c epic.Check) bool { return !slices.Contains(ofEpic, c.Run) })
		asked[whole(checks)] = true
		return known
	})
}

func commands(checks []epic.Check) (runs []string) {
	for _, check := range checks {
		runs = append(runs, check.Run)
	}
	return runs
}

// relapsed runs a task's checks on tip and says which of them fail, and fail again when they are asked once more.
func (l *lanes) relapsed(ctx context.Context, r bygone, tip string) (notes []attempts.Note, err error) {
	q := question{a: r.a, p: placeOf(l.o.Dir, r.a), commit: tip, checks: acceptance(r.a.Task.Checks, nil)}
	for i := range q.checks {
		q.checks[i].occasion = onEnd
	}
	for _, q.anew = range []bool{false, true} {
		notes = nil
		f := Finding{Outcome: attempts.Success}
		err = l.ask(ctx, q, &f, func(check numbered, s said) (bool, error) {
			if !s.passed() {
				text := "a check of " + r.a.Task.ID + " fails by now: " + l.why(check, s)
				notes = append(notes, attempts.Note{Kind: "relapse", Text: text + " (landed since: " + l.since(ctx, r.landed, tip) + ")"})
			}
			return true, nil
		})
		if err != nil || len(notes) == 0 {
			break
		}
	}
	return notes, err
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
	f := Finding{Outcome: attempts.Success}
	err = l.ask(ctx, q, &f, func(check numbered, s said) (bool, error) {
		if !s.passed() {
			notes = append(notes, attempts.Note{Kind: "relapse", Text: "a check of the epic fails on what has landed: " + l.why(check, s)})
		}
		return true, nil
	})
	return notes, err
}

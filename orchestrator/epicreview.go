package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/review"
)

// reviewEpic has the panel judge all that has landed, once every task is completed. The same work is not judged twice.
func (n *run) reviewEpic(ctx context.Context) error {
	if n.engine.Reviewer == nil || !n.o.Review.Epic || len(n.o.Review.Reviewers) == 0 || n.unfinished(ctx) {
		return nil
	}
	ctx, over := n.untilDeadline(ctx)
	defer over()
	for tries := 0; ; tries++ {
		r, f, err := n.judgeEpic(ctx)
		if atDeadline(ctx, err) {
			n.withLock(func() { n.unjudged = n.stopped.why })
			return nil
		}
		if err != nil || r == nil {
			return err
		}
		passes := slices.Contains([]attempts.Outcome{attempts.Quota, attempts.Provider, attempts.Auth, attempts.Start}, f.Outcome)
		if err := n.judged(*r, f); err != nil || !passes || tries >= n.o.Limits.MaxUncharged {
			return err
		}
		if open, err := n.awaitPanel(ctx); err != nil || !open {
			return err
		}
	}
}

// unfinished reports whether the epic, or the run, is not where its whole can be judged.
func (n *run) unfinished(ctx context.Context) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	counts := n.counts()
	return ctx.Err() != nil || n.drained() || counts.Total == 0 || counts.Completed < counts.Total
}

// mayAsk reports whether the run may still begin something, and else why the epic has not been judged.
func (n *run) mayAsk() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.exhausted() {
		n.unjudged = n.exhaustedBy.Error()
	} else {
		n.unjudged = n.stopped.why
	}
	return n.unjudged == ""
}

// judgeEpic asks the panel; the result is about its members. There is no review when the same work has been judged
// before, or nothing has changed.
func (n *run) judgeEpic(ctx context.Context) (r *attempts.EpicReview, of engine.Result, err error) {
	a := n.wholeAssignment()
	head, err := n.engine.Reviewer.Head(ctx)
	if err != nil || a.Base == "" || head == a.Base {
		return nil, of, err
	}
	var last *attempts.EpicReview
	n.store.View(func(l *attempts.Ledger) {
		last = l.LastEpicReview()
		a.Known.Record = asked(l)
	})
	if last != nil && last.Head == head && last.Decision != "" || !n.mayAsk() {
		return nil, of, nil
	}
	n.withLock(func() {
		a.Closed = n.pool.Closed(n.instant())
		n.budget.Begin(&a.Task, attempts.Usage{})
		n.tell(Update{Kind: UpdateNote, Text: "every task is completed; the reviewers are asked about the whole epic"})
	})
	said, err := n.engine.Reviewer.ReviewEpic(ctx, a, head, n.deferredFindings())
	n.withLock(func() {
		n.budget.End(engine.WholeEpic, said.Usage, true)
		n.tally.Usage.Add(said.Usage)
	})
	if err != nil {
		return nil, of, err
	}
	return &said.Review, said.Result, n.noted(said.Result.Notes)
}

// deferredFindings are what reviewers have wanted of landed tasks, and left to be done later, in words.
func (n *run) deferredFindings() (list []string) {
	for i := range n.o.Epic.Tasks {
		id := n.o.Epic.Tasks[i].ID
		for _, a := range n.store.Task(id).Attempts {
			if r := a.Receipt.Review; r != nil && a.Result == attempts.ResultSuccess {
				for _, f := range slices.Concat(r.Deferred, r.Noted) {
					list = append(list, strings.TrimSpace(fmt.Sprintf("%s (%s) %s", id, f.Severity, f.File))+": "+f.Issue)
				}
			}
		}
	}
	return list
}

// wholeAssignment is the epic as something to be judged: from the commit that the first attempt, or the integration
// branch, began from.
func (n *run) wholeAssignment() engine.Attempt {
	a := engine.Attempt{Run: n.o.Run, Task: epic.Task{ID: engine.WholeEpic, Title: n.o.Epic.Title}}
	n.store.View(func(l *attempts.Ledger) {
		a.Number = len(l.EpicReviews) + 1
		a.Base = l.Integration.Base
		var first attempts.Attempt
		for _, rec := range l.Tasks {
			if len(rec.Attempts) > 0 && (first.ID == 0 || rec.Attempts[0].StartedAt.Before(first.StartedAt)) {
				first = rec.Attempts[0]
			}
		}
		a.Base = text.FirstOf(a.Base, first.Base)
	})
	return a
}

// asked is what reviewers have said of the epic, in the form of a task's attempts.
func asked(l *attempts.Ledger) attempts.TaskRecord {
	var rec attempts.TaskRecord
	for i := range l.EpicReviews {
		rec.Attempts = append(rec.Attempts, attempts.Attempt{Receipt: attempts.Receipt{Review: &l.EpicReviews[i].Reviewed}})
	}
	return rec
}

// judged records and tells what the panel came to.
func (n *run) judged(r attempts.EpicReview, f engine.Result) error {
	events := []attempts.Event{{Type: attempts.TypeEpicReviewed, EpicReviewed: &r}}
	told := n.answered(engine.Attempt{Task: epic.Task{ID: engine.WholeEpic}}, f, attempts.Ended{Receipt: f.Receipt})
	for _, cooldown := range told.cooldown {
		events = append(events, attempts.Event{Type: attempts.TypeCooldown, Cooldown: cooldown})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tell(Update{Kind: UpdateNote, Text: "the whole epic: " + EpicVerdict(&r)})
	err := n.store.Append(events...)
	n.putOff(&r.Reviewed)
	return err
}

// noted records and tells what a person should know.
func (n *run) noted(notes []attempts.Note) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var events []attempts.Event
	for i := range notes {
		notes[i].Text = n.redact.Block(notes[i].Text)
		events = append(events, attempts.Event{Type: attempts.TypeNote, Note: &notes[i]})
		n.tell(Update{Kind: UpdateNote, Text: notes[i].Text})
	}
	return n.store.Append(events...)
}

// awaitPanel waits until every reviewer may be asked. It reports false when that is not in this run.
func (n *run) awaitPanel(ctx context.Context) (open bool, err error) {
	for {
		n.mu.Lock()
		now := n.instant()
		name, at := n.pool.Latest(engine.WholeEpic, n.pool.Panel, now)
		if name == "" || at.Rest(now) <= 0 || n.pointless(at, now) {
			n.mu.Unlock()
			return name != "" && at.Rest(now) <= 0, nil
		}
		wait := &waiting{changed: n.changed, rest: at.Rest(now)}
		err := n.tellWaiting(UpdateWaiting, attempts.Waiting{Until: at.Day.UTC(), For: name, Why: n.pool.Why(name)})
		n.mu.Unlock()
		if err != nil {
			return false, err
		}
		if wait.wait(ctx, n.o.Drain); ctx.Err() != nil || n.drained() {
			return false, nil
		}
	}
}

// EpicVerdict says in words what became of an epic review.
func EpicVerdict(r *attempts.EpicReview) string {
	switch {
	case r.Decision == "":
		return "could not be reviewed: " + r.Why
	case len(r.Added) > 0:
		return "not reviewed since these were added: " + text.Listed(r.Added)
	}
	text := string(r.Decision)
	if len(r.Findings) > 0 {
		text += fmt.Sprintf(", %d to be done", len(r.Findings))
	}
	if r.Split {
		text += "; the reviewers disagree"
	}
	if r.Summary != "" {
		text += ": " + r.Summary
	}
	return text
}

// whole says why a run is over whose every task is completed.
func (n *run) whole() (reason Reason, why string) {
	if !n.o.Review.Epic || len(n.o.Review.Reviewers) == 0 {
		return EpicComplete, ""
	}
	n.store.View(func(l *attempts.Ledger) {
		switch last := l.LastEpicReview(); {
		case n.unjudged != "":
			reason, why = EpicUnjudged, "the whole epic: not reviewed, for "+n.unjudged
		case last == nil, last.Decision == review.Approved && len(last.Added) == 0: // nil: nothing has changed
			reason = EpicComplete
		case last.Decision == "" || len(last.Added) > 0:
			reason, why = EpicUnjudged, "the whole epic: "+EpicVerdict(last)
		default:
			reason, why = EpicRefused, "the whole epic: "+EpicVerdict(last)
		}
	})
	return reason, why
}

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
func (r *run) reviewEpic(ctx context.Context) error {
	if r.engine.Reviewer == nil || !r.o.Review.Epic || len(r.o.Review.Reviewers) == 0 || r.unfinished(ctx) {
		return nil
	}
	ctx, over := r.untilDeadline(ctx)
	defer over()
	for tries := 0; ; tries++ {
		epicReview, f, err := r.judgeEpic(ctx)
		if atDeadline(ctx, err) {
			r.withLock(func() { r.unjudged = r.stopped.why })
			return nil
		}
		if err != nil || epicReview == nil {
			return err
		}
		passes := slices.Contains([]attempts.Outcome{attempts.Quota, attempts.Provider, attempts.Auth, attempts.Start}, f.Outcome)
		if err := r.recordEpicReview(*epicReview, f); err != nil || !passes || tries >= r.o.Limits.MaxUncharged {
			return err
		}
		if open, err := r.awaitPanel(ctx); err != nil || !open {
			return err
		}
	}
}

// unfinished reports whether the epic, or the run, is not where its whole can be judged.
func (r *run) unfinished(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.counts()
	return ctx.Err() != nil || r.drained() || counts.Total == 0 || counts.Completed < counts.Total
}

// mayAsk reports whether the run may still begin something, and else why the epic has not been judged.
func (r *run) mayAsk() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exhausted() {
		r.unjudged = r.exhaustedBy.Error()
	} else {
		r.unjudged = r.stopped.why
	}
	return r.unjudged == ""
}

// judgeEpic asks the panel; the result is about its members. There is no review when the same work has been judged
// before, or nothing has changed.
func (r *run) judgeEpic(ctx context.Context) (epicReview *attempts.EpicReview, of engine.Result, err error) {
	a := r.wholeAssignment()
	head, err := r.engine.Reviewer.Head(ctx)
	if err != nil || a.Base == "" || head == a.Base {
		return nil, of, err
	}
	var last *attempts.EpicReview
	r.store.View(func(l *attempts.Ledger) {
		last = l.LastEpicReview()
		a.Known.Record = asked(l)
	})
	if last != nil && last.Head == head && last.Decision != "" || !r.mayAsk() {
		return nil, of, nil
	}
	r.withLock(func() {
		a.Closed = r.pool.Closed(r.instant())
		r.budget.Begin(&a.Task, attempts.Usage{})
		r.tell(Update{Kind: UpdateNote, Text: "every task is completed; the reviewers are asked about the whole epic"})
	})
	reviewed, err := r.engine.Reviewer.ReviewEpic(ctx, a, head, r.deferredFindings())
	r.withLock(func() {
		r.budget.End(engine.WholeEpic, reviewed.Usage, true)
		r.tally.Usage.Add(reviewed.Usage)
	})
	if err != nil {
		return nil, of, err
	}
	return &reviewed.Review, reviewed.Result, r.recordNotes(reviewed.Result.Notes)
}

// deferredFindings are what reviewers have wanted of landed tasks, and left to be done later, in words.
func (r *run) deferredFindings() (list []string) {
	for i := range r.o.Epic.Tasks {
		id := r.o.Epic.Tasks[i].ID
		for _, a := range r.store.Task(id).Attempts {
			if reviewed := a.Receipt.Review; reviewed != nil && a.Result == attempts.ResultSuccess {
				for _, f := range slices.Concat(reviewed.Deferred, reviewed.Noted) {
					list = append(list, strings.TrimSpace(fmt.Sprintf("%s (%s) %s", id, f.Severity, f.File))+": "+f.Issue)
				}
			}
		}
	}
	return list
}

// wholeAssignment is the epic as something to be judged: from the commit that the first attempt, or the integration
// branch, began from.
func (r *run) wholeAssignment() engine.Attempt {
	a := engine.Attempt{Run: r.o.Run, Task: epic.Task{ID: engine.WholeEpic, Title: r.o.Epic.Title}}
	r.store.View(func(l *attempts.Ledger) {
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
func (r *run) recordEpicReview(epicReview attempts.EpicReview, f engine.Result) error {
	events := []attempts.Event{{Type: attempts.TypeEpicReviewed, EpicReviewed: &epicReview}}
	rule := r.answered(engine.Attempt{Task: epic.Task{ID: engine.WholeEpic}}, f, attempts.Ended{Receipt: f.Receipt})
	for _, cooldown := range rule.cooldown {
		events = append(events, attempts.Event{Type: attempts.TypeCooldown, Cooldown: cooldown})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(Update{Kind: UpdateNote, Text: "the whole epic: " + EpicVerdict(&epicReview)})
	err := r.store.Append(events...)
	r.writeDeferredFile(&epicReview.Reviewed)
	return err
}

// noted records and tells what a person should know.
func (r *run) recordNotes(notes []attempts.Note) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var events []attempts.Event
	for i := range notes {
		notes[i].Text = r.redact.Block(notes[i].Text)
		events = append(events, attempts.Event{Type: attempts.TypeNote, Note: &notes[i]})
		r.tell(Update{Kind: UpdateNote, Text: notes[i].Text})
	}
	return r.store.Append(events...)
}

// awaitPanel waits until every reviewer may be asked. It reports false when that is not in this run.
func (r *run) awaitPanel(ctx context.Context) (open bool, err error) {
	for {
		r.mu.Lock()
		now := r.instant()
		name, at := r.pool.Latest(engine.WholeEpic, r.pool.Panel, now)
		if name == "" || at.Rest(now) <= 0 || r.pointless(at, now) {
			r.mu.Unlock()
			return name != "" && at.Rest(now) <= 0, nil
		}
		wait := &waiting{changed: r.changed, rest: at.Rest(now)}
		err := r.tellWaiting(UpdateWaiting, attempts.Waiting{Until: at.Day.UTC(), For: name, Why: r.pool.Why(name)})
		r.mu.Unlock()
		if err != nil {
			return false, err
		}
		if wait.wait(ctx, r.o.Drain); ctx.Err() != nil || r.drained() {
			return false, nil //nolint:nilerr // a run that was stopped asks nobody
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
func (r *run) epicReason() (reason Reason, why string) {
	if !r.o.Review.Epic || len(r.o.Review.Reviewers) == 0 {
		return EpicComplete, ""
	}
	r.store.View(func(l *attempts.Ledger) {
		switch last := l.LastEpicReview(); {
		case r.unjudged != "":
			reason, why = EpicUnjudged, "the whole epic: not reviewed, for "+r.unjudged
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

package orchestrator

import (
	"context"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/briefing"
	"relay/orchestrator/deferred"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
)

// epicReview has the panel judge the whole epic once every task is completed.
type epicReview struct {
	state    *state
	limits   *limits
	waiter   *waiter
	recorder *recorder

	unjudged string // why the panel was not asked; "": it was, or nothing is to be judged
}

// review asks the panel about all that has landed once every task is completed, and again while its members cannot be reached,
// at most MaxUncharged times. The same work is not judged twice.
func (e *epicReview) review(ctx context.Context) error {
	if e.state.engine.Reviewer == nil || !e.state.o.Review.Epic || len(e.state.o.Review.Reviewers) == 0 || e.tasksLeft(ctx) {
		return nil
	}
	ctx, over := e.limits.untilDeadline(ctx)
	defer over()
	for tries := 0; ; tries++ {
		epicReview, f, err := e.askPanel(ctx)
		if atDeadline(ctx, err) {
			e.state.withLock(func() { e.unjudged = e.limits.stopped.why })
			return nil
		}
		if err != nil || epicReview == nil {
			return err
		}
		passes := slices.Contains([]attempts.Outcome{attempts.Quota, attempts.Provider, attempts.Auth, attempts.Start}, f.Outcome)
		if err := e.recordEpicReview(*epicReview, f); err != nil || !passes || tries >= e.state.o.Limits.MaxUncharged {
			return err
		}
		if open, err := e.awaitPanel(ctx); err != nil || !open {
			return err
		}
	}
}

// tasksLeft reports whether tasks are left, or the run is ending: then the whole epic cannot be judged.
func (e *epicReview) tasksLeft(ctx context.Context) bool {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	counts := e.state.counts()
	return ctx.Err() != nil || e.state.drained() || counts.Total == 0 || counts.Completed < counts.Total
}

// mayAsk reports whether the run may still begin something; if not, it keeps why as the reason that the epic was not judged.
func (e *epicReview) mayAsk() bool {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	if e.limits.exhausted() {
		e.unjudged = e.limits.exhaustedBy.Error()
	} else {
		e.unjudged = e.limits.stopped.why
	}
	return e.unjudged == ""
}

// askPanel asks the panel; the result is about its members. The review is nil if the same work has been judged before, nothing
// has changed, or the run may begin nothing more.
func (e *epicReview) askPanel(ctx context.Context) (epicReview *attempts.EpicReview, of engine.Result, err error) {
	a := e.state.wholeEpic()
	head, err := e.state.engine.Reviewer.Head(ctx)
	if err != nil || a.Base == "" || head == a.Base {
		return nil, of, err
	}
	var last *attempts.EpicReview
	e.state.store.View(func(l *attempts.Ledger) {
		last = l.LastEpicReview()
		a.BriefInput.Record = briefing.EarlierReviews(l)
	})
	if last != nil && last.Head == head && last.Decision != "" || !e.mayAsk() {
		return nil, of, nil
	}
	e.state.withLock(func() {
		a.Closed = e.state.pool.Closed(e.state.instant())
		e.limits.budget.Begin(&a.Task, attempts.Usage{})
		e.state.notify(Update{Kind: UpdateNote, Text: "every task is completed; the reviewers are asked about the whole epic"})
	})
	reviewed, err := e.state.engine.Reviewer.ReviewEpic(ctx, a, head, deferred.InWords(e.state.o.Epic, e.state.store.Task))
	e.state.withLock(func() {
		e.limits.budget.End(engine.WholeEpic, reviewed.Usage, true)
		e.state.summary.Usage.Add(reviewed.Usage)
	})
	if err != nil {
		return nil, of, err
	}
	return &reviewed.Review, reviewed.Result, e.state.recordNotes(reviewed.Result.Notes)
}

// recordEpicReview records and tells the panel's decision, and the cooldowns of its members.
func (e *epicReview) recordEpicReview(epicReview attempts.EpicReview, f engine.Result) error {
	events := []attempts.Event{{Type: attempts.TypeEpicReviewed, EpicReviewed: &epicReview}}
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	for _, cooldown := range e.rule(f).cooldown {
		events = append(events, attempts.Event{Type: attempts.TypeCooldown, Cooldown: cooldown})
	}
	events[0].Steps = e.state.takeSteps()
	e.state.notify(Update{Kind: UpdateNote, Text: "the whole epic: " + ending.EpicVerdict(&epicReview)})
	err := e.state.store.Append(events...)
	e.recorder.writeDeferredFile(&epicReview.Reviewed)
	return err
}

// rule tells the pool how the reviewers of the whole epic did, and returns what follows. The caller holds mu.
func (e *epicReview) rule(f engine.Result) runnerRuling {
	now, a := e.state.instant(), engine.Attempt{Task: epic.Task{ID: engine.WholeEpic}}
	rule := e.recorder.rule(now, a, f, attempts.Ended{Receipt: f.Receipt})
	made := e.state.ruledStep(attempts.StepReviewed, a, f)
	made.Outcome = f.Outcome
	e.state.step(now, made)
	return rule
}

// awaitPanel waits until every reviewer may be asked. It reports false when that is not in this run.
func (e *epicReview) awaitPanel(ctx context.Context) (open bool, err error) {
	for {
		e.state.mu.Lock()
		now := e.state.instant()
		name, at := e.state.pool.Latest(engine.WholeEpic, e.state.pool.Panel, now)
		if name == "" || at.Rest(now) <= 0 || e.limits.pointless(at, now) {
			e.state.mu.Unlock()
			return name != "" && at.Rest(now) <= 0, nil
		}
		wait := &waiting{changed: e.state.changed, rest: at.Rest(now)}
		what := attempts.Waiting{Until: at.Day.UTC(), For: name, Why: e.state.pool.Why(name)}
		err := e.waiter.notifyWaiting(now, UpdateWaiting, engine.WholeEpic, what)
		e.state.mu.Unlock()
		if err != nil {
			return false, err
		}
		if wait.wait(ctx, e.state.o.Drain); ctx.Err() != nil || e.state.drained() {
			return false, nil //nolint:nilerr // a run that was stopped asks nobody
		}
	}
}

// reason returns why a run has ended whose every task is completed.
func (e *epicReview) reason() (reason ending.Reason, why string) {
	if !e.state.o.Review.Epic || len(e.state.o.Review.Reviewers) == 0 {
		return ending.EpicComplete, ""
	}
	e.state.store.View(func(l *attempts.Ledger) { reason, why = ending.EpicReason(l.LastEpicReview(), e.unjudged) })
	return reason, why
}

package orchestrator

import (
	"context"
	"strings"

	"relay/attempts"
	"relay/orchestrator/briefing"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
)

// epicReview has the panel judge the whole epic once every task is completed.
type epicReview struct {
	state      *state
	limits     *decide.Limits
	dispatcher *decide.Dispatcher
	recorder   *recorder

	unjudged string // why the panel was not asked; "": it was, or nothing is to be judged
}

// review asks the panel about all that has landed once every task is completed, and again while its members cannot be reached,
// at most MaxUncharged times. The same work is not judged twice.
func (e *epicReview) review(ctx context.Context) error {
	if e.state.engine.Reviewer == nil || !e.state.o.Review.Epic || len(e.state.o.Review.Reviewers) == 0 || e.tasksLeft(ctx) {
		return nil
	}
	ctx, over := untilDeadline(ctx, e.state, e.limits)
	defer over()
	for tries := 0; ; tries++ {
		epicReview, f, err := e.askPanel(ctx)
		if atDeadline(ctx, err) {
			e.state.WithLock(func() { e.unjudged = e.limits.Stopped.Why })
			return nil
		}
		if err != nil || epicReview == nil {
			return err
		}
		passes := verdict.ClassOf(f.Outcome).Runner == verdict.RunnerFailed
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
	e.state.Mu.Lock()
	defer e.state.Mu.Unlock()
	counts := e.state.Counts()
	return ctx.Err() != nil || e.state.Drained() || counts.Total == 0 || counts.Completed < counts.Total
}

// mayAsk reports whether the run may still begin something; if not, it keeps why as the reason that the epic was not judged.
func (e *epicReview) mayAsk() bool {
	e.state.Mu.Lock()
	defer e.state.Mu.Unlock()
	if e.limits.Exhausted() {
		e.unjudged = e.limits.ExhaustedBy.Error()
	} else {
		e.unjudged = e.limits.Stopped.Why
	}
	return e.unjudged == ""
}

// askPanel asks the panel; the result is about its members. The review is nil if the same work has been judged before, nothing
// has changed, or the run may begin nothing more.
func (e *epicReview) askPanel(ctx context.Context) (epicReview *attempts.EpicReview, of engine.Result, err error) {
	a := wholeEpic(e.state)
	head, err := e.state.engine.Reviewer.Head(ctx)
	if err != nil || a.Base == "" || head == a.Base {
		return nil, of, err
	}
	var last *attempts.EpicReview
	var from string
	e.state.store.View(func(l *attempts.Ledger) {
		last, from = l.LastEpicReview(), l.Integration.From
		a.BriefInput.Record = briefing.EarlierReviews(l)
	})
	if last != nil && last.Head == head && last.Decision != "" || !e.mayAsk() {
		return nil, of, nil
	}
	a.Base = e.ownBase(ctx, a.Base, head, from)
	e.state.WithLock(func() {
		a.Closed = e.state.Pool.Closed(e.state.Instant())
		e.limits.Budget.Begin(&a.Task, attempts.Usage{})
		e.state.Notify(decide.Update{Kind: decide.Note, Text: "every task is completed; the reviewers are asked about the whole epic"})
	})
	reviewed, err := e.state.engine.Reviewer.ReviewEpic(ctx, a, head, DeferredInWords(e.state.o.Epic, e.state.store.Task))
	e.state.WithLock(func() {
		e.limits.Budget.End(engine.WholeEpic, reviewed.Usage, true)
		e.state.Summary.Usage.Add(reviewed.Usage)
	})
	if err != nil {
		return nil, of, err
	}
	return &reviewed.Review, reviewed.Result, e.state.recordNotes(reviewed.Result.Notes)
}

// ownBase returns the commit from which on the work is the epic's own: a later one than its base if the run has followed the branch of that
// name, which it began from. It is the base if that branch has work of the epic, was moved back, or is gone.
func (e *epicReview) ownBase(ctx context.Context, base, head, from string) string {
	if e.state.o.Repo == nil || from == "" {
		return base
	}
	git := func(args ...string) (string, error) {
		out, err := e.state.o.Repo.Run(ctx, git.Call{Args: args})
		return strings.TrimSpace(string(out)), err
	}
	fork, err := git("merge-base", head, "refs/heads/"+from)
	if err != nil {
		return base
	}
	landed, err := git("rev-list", "-1", "--fixed-strings", "--grep=Relay-Epic: "+e.state.o.Epic.ID, base+".."+fork)
	if _, moved := git("merge-base", "--is-ancestor", base, fork); err != nil || moved != nil || landed != "" {
		return base
	}
	return fork
}

// recordEpicReview records and tells the panel's decision, and the cooldowns of its members.
func (e *epicReview) recordEpicReview(epicReview attempts.EpicReview, f engine.Result) error {
	events := []attempts.Event{{Type: attempts.TypeEpicReviewed, EpicReviewed: &epicReview}}
	e.state.Mu.Lock()
	defer e.state.Mu.Unlock()
	for _, cooldown := range e.recorder.judge.DecideEpic(f).Cooldown {
		events = append(events, attempts.Event{Type: attempts.TypeCooldown, Cooldown: cooldown})
	}
	events[0].Steps = e.state.TakeSteps()
	e.state.Notify(decide.Update{Kind: decide.Note, Text: "the whole epic: " + decide.EpicVerdict(&epicReview)})
	err := e.state.store.Append(events...)
	e.recorder.writeDeferredFile(&epicReview.Reviewed)
	return err
}

// awaitPanel waits until every reviewer may be asked. It reports false when that is not in this run.
func (e *epicReview) awaitPanel(ctx context.Context) (open bool, err error) {
	for {
		e.state.Mu.Lock()
		wait, open, err := e.dispatcher.WaitForPanel(e.state.Instant())
		e.state.Mu.Unlock()
		if wait == nil || err != nil {
			return open, err
		}
		if wait.Wait(ctx, e.state.o.Drain); ctx.Err() != nil || e.state.Drained() {
			return false, nil //nolint:nilerr // a run that was stopped asks no reviewer
		}
	}
}

// reason returns why a run has ended whose every task is completed.
func (e *epicReview) reason() (reason decide.EndReason, why string) {
	if !e.state.o.Review.Epic || len(e.state.o.Review.Reviewers) == 0 {
		return decide.EpicComplete, ""
	}
	e.state.store.View(func(l *attempts.Ledger) { reason, why = decide.EpicReason(l.LastEpicReview(), e.unjudged) })
	return reason, why
}

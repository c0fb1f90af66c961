// Package enginetest has engines for tests.
package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// JSON is a wire that passes all that crosses the border through JSON, as one to another machine would. What JSON loses an engine
// cannot rely on. Errors, and the bounds of contexts, go past it.
type JSON struct{}

// Options returns options as they arrive.
func (JSON) Options(o *engine.Options) *engine.Options { return sent(o) }

// Event returns an event as it arrives.
func (JSON) Event(e engine.Event) engine.Event { return sent(e) }

// Engine returns an engine whose every question and answer has gone through JSON.
func (JSON) Engine(of engine.Abilities) engine.Abilities {
	a := engine.Abilities{Engine: remote{of.Engine}}
	if of.Merger != nil {
		a.Merger = merger{of.Merger}
	}
	if of.Lifecycle != nil {
		a.Lifecycle = lifecycle{of.Lifecycle}
	}
	if of.Follower != nil {
		a.Follower = follower{of.Follower}
	}
	if of.Rechecker != nil {
		a.Rechecker = rechecker{of.Rechecker}
	}
	if of.Reviewer != nil {
		a.Reviewer = reviewer{of.Reviewer}
	}
	if of.AskFirst != nil {
		a.AskFirst = func(may func(ctx context.Context, a engine.Attempt) string) {
			of.AskFirst(func(ctx context.Context, a engine.Attempt) string { return sent(may(ctx, sent(a))) })
		}
	}
	if of.Lost != nil {
		a.Lost = func(ctx context.Context) ([]attempts.Note, error) {
			notes, err := of.Lost(ctx)
			return sent(notes), err
		}
	}
	return a
}

// sent returns what is left of a value on the other side. It panics when that is not all that JSON can say of it: the type is no
// plain data.
func sent[T any](v T) (got T) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		panic(fmt.Sprintf("enginetest: %T is no plain data: %v", v, err))
	}
	if again, err := json.Marshal(got); err != nil || !bytes.Equal(text, again) {
		panic(fmt.Sprintf("enginetest: %T does not survive JSON: %s became %s", v, text, again))
	}
	return got
}

type remote struct{ engine.Engine }

func (r remote) Prepare(ctx context.Context, a engine.Attempt) (string, error) {
	return r.Engine.Prepare(ctx, sent(a))
}

func (r remote) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	result, err := r.Engine.Run(ctx, sent(a))
	return sent(result), err
}

type merger struct{ engine.Merger }

func (m merger) Join(ctx context.Context, waiting []engine.Verified) (engine.Step, error) {
	step, err := m.Merger.Join(ctx, sent(waiting))
	return sent(step), err
}

func (m merger) Advance(ctx context.Context, s engine.Step) (bool, error) {
	return m.Merger.Advance(ctx, sent(s))
}

type follower struct{ engine.Follower }

func (f follower) Follow(ctx context.Context, from string) (tip string, notes []attempts.Note, err error) {
	tip, notes, err = f.Follower.Follow(ctx, from)
	return tip, sent(notes), err
}

type lifecycle struct{ engine.Lifecycle }

func (l lifecycle) Origin() attempts.Integration { return sent(l.Lifecycle.Origin()) }

func (l lifecycle) Admit(ctx context.Context, ledger *attempts.Ledger, open []engine.Attempt) error {
	return l.Lifecycle.Admit(ctx, ledger, sent(open))
}

func (l lifecycle) Reserve(a engine.Attempt) { l.Lifecycle.Reserve(sent(a)) }

func (l lifecycle) Asked(a engine.Attempt) bool { return l.Lifecycle.Asked(sent(a)) }

func (l lifecycle) Resume(ctx context.Context, a engine.Attempt, open attempts.Attempt) (*attempts.Ended, error) {
	ended, err := l.Lifecycle.Resume(ctx, sent(a), sent(open))
	return sent(ended), err
}

type rechecker struct{ engine.Rechecker }

func (r rechecker) Commit(a attempts.Attempt) string { return r.Rechecker.Commit(sent(a)) }

func (r rechecker) BeginRecheck(ctx context.Context, a engine.Attempt, tip string) error {
	return r.Rechecker.BeginRecheck(ctx, sent(a), tip)
}

func (r rechecker) EndRecheck(ctx context.Context, tip string) ([]attempts.Note, error) {
	notes, err := r.Rechecker.EndRecheck(ctx, tip)
	return sent(notes), err
}

func (r rechecker) Recheck(ctx context.Context, a engine.Attempt, tip string) (*engine.FailedCheck, error) {
	failed, err := r.Rechecker.Recheck(ctx, sent(a), tip)
	return sent(failed), err
}

func (r rechecker) RecheckEpic(ctx context.Context, a engine.Attempt, tip string) ([]engine.FailedCheck, error) {
	failed, err := r.Rechecker.RecheckEpic(ctx, sent(a), tip)
	return sent(failed), err
}

type reviewer struct{ engine.EpicReviewer }

func (r reviewer) ReviewEpic(ctx context.Context, a engine.Attempt, head string, deferred []string) (engine.ReviewedEpic, error) {
	reviewed, err := r.EpicReviewer.ReviewEpic(ctx, sent(a), head, sent(deferred))
	return sent(reviewed), err
}

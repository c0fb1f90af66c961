package engine

import (
	"context"
	"time"
)

// Events takes what an engine tells of its attempts.
type Events chan<- Event

// Emit never waits: an event that the listener has no time to receive is dropped.
func (c Events) Emit(e Event) {
	select {
	case c <- e:
	default:
	}
}

// recordWait is how long an event that is to be recorded waits for its listener.
const recordWait = 10 * time.Second

// Record sends an event that is to be recorded, and waits for a busy listener.
func (c Events) Record(ctx context.Context, e Event) {
	select {
	case c <- e:
	case <-ctx.Done():
	case <-time.After(recordWait):
	}
}

// Turn sends that a turn of the agent of an attempt has begun in a folder; over sends that the turn is over.
func (c Events) Turn(ctx context.Context, a Attempt, dir string, began time.Time) (over func()) {
	e := Event{Task: a.Task.ID, Attempt: a.Number, Kind: KindTurn, Dir: dir, Began: began}
	c.Record(ctx, e)
	e.Dir = ""
	return func() { c.Record(context.WithoutCancel(ctx), e) } // also of an agent that was stopped
}

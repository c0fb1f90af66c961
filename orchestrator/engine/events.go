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

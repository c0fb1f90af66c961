package sessionkeeper

import (
	"context"
	"time"
)

// How long Close waits: for a run that was asked to stop, and for one that is over by itself. A night in which agents said a gigabyte
// takes a minute.
const (
	closeWait = 10 * time.Second
	mostWait  = 5 * time.Minute
)

// Close waits until the rows of all attempts are written, for at most five minutes, or ten seconds once ctx is done. Then it warns,
// and leaves the rest to the next run.
func (k *Keeper) Close(ctx context.Context) {
	if k == nil {
		return
	}
	close(k.end)
	if !k.written(ctx) {
		k.o.Warn("the agents ledger is not complete yet: the next relay work goes on with it, or relay sessions import")
	}
	k.stop()
}

func (k *Keeper) written(ctx context.Context) bool {
	select {
	case <-k.done:
		return true
	case <-time.After(closeWait):
	}
	if ctx.Err() == nil {
		k.o.Warn("what agents said is still being written to the agents ledger; Ctrl-C leaves the rest to the next run")
	}
	select {
	case <-k.done:
		return true
	case <-ctx.Done():
	case <-time.After(mostWait - closeWait):
	}
	return false
}

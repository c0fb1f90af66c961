package orchestrator

import (
	"context"
	"fmt"
	"time"

	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// watchDisk stops an agent whenever the disk has less room than its floor: the one that has written most in its turn, if that is as much
// as the floor.
func watchDisk(ctx context.Context, s *state, m *decide.Limits) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			stopFiller(s, m)
		}
	}
}

func stopFiller(s *state, m *decide.Limits) {
	task, most := "", int64(0)
	var places map[string]decide.Place
	s.WithLock(func() { places, most = m.Crowded() })
	for id, at := range places {
		a := engine.Attempt{Run: s.o.Run, Number: at.Attempt}
		a.Task.ID = id
		if n := attemptfiles.Of(s.o.Dir, a).Grown(at.Dir, at.Since); n >= most {
			task, most = id, n
		}
	}
	if task != "" {
		s.WithLock(func() { m.Cancel(task, places[task], fmt.Errorf("%w: it wrote %d MiB", engine.ErrFilled, most>>20)) })
	}
}

package orchestrator

import "time"

// stopwatch returns a clock that starts at 0 now and only goes forward.
func stopwatch() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

package orchestrator

import "time"

// stopwatch is the run's clock.
func stopwatch() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

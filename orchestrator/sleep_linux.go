package orchestrator

import (
	"time"

	"golang.org/x/sys/unix"
)

// upClock is a clock that goes on while the machine sleeps and that nobody sets.
func upClock() func() time.Duration {
	return func() time.Duration {
		var t unix.Timespec
		if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
			return 0
		}
		return time.Duration(t.Nano())
	}
}

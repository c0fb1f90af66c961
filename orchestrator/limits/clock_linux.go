package limits

import (
	"time"

	"golang.org/x/sys/unix"
)

// UpClock returns a clock that goes on while the machine sleeps and that cannot be set.
func UpClock() func() time.Duration {
	return func() time.Duration {
		var t unix.Timespec
		if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
			return 0
		}
		return time.Duration(t.Nano())
	}
}

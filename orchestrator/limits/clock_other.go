//go:build !linux

package limits

import "time"

// UpClock returns a clock that goes on while the machine sleeps: here the day's, which is seldom set by a minute and more.
func UpClock() func() time.Duration {
	began := time.Now().Round(0)
	return func() time.Duration { return time.Now().Round(0).Sub(began) }
}

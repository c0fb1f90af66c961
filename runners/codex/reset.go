package codex

import (
	"strconv"
	"strings"
	"time"

	"relay/epic/pattern"
	"relay/runners/internal/adapter"
)

var (
	// resetClock matches "try again at 4:17 AM" (today) and "try again at Nov 22nd, 2026 12:21 AM".
	resetClock = pattern.New(`(?i)\btry again at (?:([a-z]{3}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}):(\d{2}) ([ap]m)\b`)
	// resetIn matches "try again in 3 hours 5 minutes" and "try again in 11.5s".
	resetIn   = pattern.New(`(?i)\btry again in ((?:\d+(?:\.\d+)? ?(?:days?|d|hours?|h|minutes?|m|seconds?|s|ms)\b[, ]*(?:and )?)+)`)
	resetPart = pattern.New(`(?i)(\d+(?:\.\d+)?) ?(ms|[dhms])`)
)

// resetTime returns when the CLI says to come back, or zero. It names no seconds, and no date when it means the day on
// which it said so: in the location of printed, when that was.
func resetTime(message string, printed time.Time) time.Time {
	at := time.Time{}
	if m := resetClock.FindStringSubmatch(message); m != nil {
		at = clockTime(m, printed)
	} else if m := resetIn.FindStringSubmatch(message); m != nil {
		at = printed.Add(span(m[1]))
	}
	if at.Sub(printed) > adapter.MaxReset || printed.Sub(at) > time.Hour { // not believed; a zero time is neither
		return time.Time{}
	}
	if at.Before(printed) { // it has passed already
		at = printed
	}
	return at.UTC()
}

// clockTime reads the parts of resetClock, rounded up to the next minute.
func clockTime(m []string, printed time.Time) time.Time {
	clock, err := time.Parse(time.Kitchen, m[4]+":"+m[5]+strings.ToUpper(m[6]))
	if err != nil {
		return time.Time{}
	}
	year, month, day := printed.Date()
	if m[1] != "" {
		date, err := time.Parse("Jan-2-2006", m[1]+"-"+m[2]+"-"+m[3])
		if err != nil {
			return time.Time{}
		}
		year, month, day = date.Date()
	}
	at := time.Date(year, month, day, clock.Hour(), clock.Minute()+1, 0, 0, printed.Location())
	if m[1] == "" && printed.Sub(at) > time.Hour { // a clock time to come, so that of the next day
		at = time.Date(year, month, day+1, clock.Hour(), clock.Minute()+1, 0, 0, printed.Location())
	}
	return at
}

// span adds up "3 hours 5 minutes".
func span(text string) time.Duration {
	units := map[string]time.Duration{
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}
	var sum float64
	for _, part := range resetPart.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(part[1], 64) // what is too large for it is infinite
		sum += n * float64(units[strings.ToLower(part[2])])
	}
	return time.Duration(min(sum, float64(2*adapter.MaxReset)))
}

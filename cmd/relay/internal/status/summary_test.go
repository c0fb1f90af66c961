package status

import (
	"testing"
	"time"

	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
)

// In the morning it is said how much of the night the machine slept through.
func TestSleepIsSummedUp(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 22, 2, 10, 0, 0, time.Local)
	nap := limits.Sleep{From: from, To: from.Add(210 * time.Minute)}
	short := limits.Sleep{From: from.Add(5 * time.Hour), To: from.Add(5*time.Hour + 5*time.Minute)}
	for want, naps := range map[string][]limits.Sleep{
		"the machine slept from 02:10 to 05:40: nothing was done then":                                      {nap},
		"the machine slept from 02:10 to 05:40 and 2 times after that, 3h40m in all: nothing was done then": {nap, short, short},
	} {
		if got := suspendText(naps); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	first, second := decide.Summary{Suspends: []limits.Sleep{nap}}, decide.Summary{Suspends: []limits.Sleep{short}}
	if got := suspendedSeconds(AddRun(first, second).Suspends); got != 12900 {
		t.Errorf("over two runs it slept %v s, want 12900", got)
	}
}

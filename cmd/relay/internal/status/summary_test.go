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
	first, second := decide.Summary{Suspends: []limits.Sleep{nap}}, decide.Summary{Suspends: []limits.Sleep{short}}
	if got := slept(AddRun(first, second).Suspends); got != 215*time.Minute {
		t.Errorf("over two runs it slept %v, want 3h35m", got)
	}
}

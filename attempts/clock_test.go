package attempts

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// A clock that jumps between any two events changes nothing but the times that are told: what came after what, and
// what became of each task, is the order of the events, and nothing took less than no time.
func TestClockJumpsWithinARun(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	days := []time.Time{
		time.Date(2030, 10, 27, 0, 59, 59, 0, time.UTC), time.Unix(0, 0).UTC(), time.Date(2038, 1, 19, 3, 14, 8, 0, time.UTC),
		time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	looks := 0
	o := b.options(run1)
	o.Now = func() time.Time {
		looks++
		return days[looks%len(days)]
	}
	s, err := Open(o)
	must(t, err)
	must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 42, Jobs: 2}}))
	for i := range 2 {
		must(t, s.Append(started("T1", i+1)))
		must(t, s.Append(failed("T1", i+1, "no "+strconv.Itoa(i))))
	}
	must(t, s.Append(started("T1", 3), succeeded("T1", 3), started("T2", 1), succeeded("T2", 1)))
	must(t, s.Append(started("T3", 1), succeeded("T3", 1), started("T4", 1), succeeded("T4", 1)))
	must(t, s.Append(Event{Type: TypeRunStopped, RunStopped: &RunStopped{Reason: "epic_complete"}}))
	must(t, s.Close())

	v := b.read(t)
	if v.Counts[Completed] != 4 || len(v.Warnings) > 0 {
		t.Errorf("got counts %v, warnings %v", v.Counts, v.Warnings)
	}
	list := v.Ledger.Tasks["T1"].Attempts
	if len(list) != 3 || list[0].Result != ResultFailure || list[1].Receipt.ErrorSummary != "no 1" || list[2].Result != ResultSuccess {
		t.Errorf("T1 was tried as %+v", list)
	}
	text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	for _, found := range regexp.MustCompile(`(?m)^\s*(\w*(?:minutes|seconds)): (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		if n, err := strconv.ParseFloat(found[2], 64); err != nil || n < 0 {
			t.Errorf("the ledger says %s", found[0])
		}
	}
	if !regexp.MustCompile(`(?m)^duration_minutes: `).Match(text) {
		t.Error("the ledger does not say how long it took")
	}
	s = b.open(t, run2) // whose clock is right, and earlier
	must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 43, Jobs: 1}}))
	must(t, s.Close())
	if v := b.read(t); v.Counts[Completed] != 4 {
		t.Errorf("after another run: %v", v.Counts)
	}
}

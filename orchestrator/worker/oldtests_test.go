package worker

import (
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// A check that passes with fewer tests than before the work is told, and needs a person or a reviewer.
func TestFewerTestsRan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent, note string
	}{
		"fewer":   {"echo '3 passed in 0.10s' > count.txt", "cat count.txt ran 3 tests, and 9 before the work"},
		"more":    {"echo '12 passed in 0.10s' > count.txt", ""},
		"silence": {"echo fine > count.txt", "cat count.txt ran 0 tests, and 9 before the work"},
	} {
		for _, apart := range []bool{true, false} {
			l := newLab(t, c.agent)
			l.Write("count.txt", "9 passed in 0.10s\n")
			l.Git("add", "-A")
			l.Git("commit", "-qm", "Tests")
			var f engine.Result
			if apart {
				f = l.inSlots(l.slotOptions()).does("T1", c.agent, "cat count.txt").Result
			} else {
				f = l.begin().try(epic.Task{ID: "T1", Checks: checksOf([]string{"cat count.txt"})}, nil).Result
			}
			got := ""
			for _, n := range f.Notes {
				got += n.Text
			}
			if f.Outcome != attempts.Success || got != c.note || (len(f.Receipt.Looks) == 1) != (c.note != "") {
				t.Errorf("%s, apart %v: got %s, %q, looks %v; want %q", name, apart, f.Outcome, got, f.Receipt.Looks, c.note)
			}
		}
	}
}

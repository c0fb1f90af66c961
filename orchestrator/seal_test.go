package orchestrator

import (
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{Tasks: []epic.Task{{ID: "T1", Checks: oneCheck("a")}, {ID: "T2", Checks: oneCheck("b")}, {ID: "T3"}}}
	dir := t.TempDir()
	l := &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{}}
	for i := range e.Tasks {
		l.Tasks[e.Tasks[i].ID] = &attempts.TaskRecord{Attempts: []attempts.Attempt{{Sealed: SealTask(e, &e.Tasks[i])}}}
	}
	if got := SealChanges(e, dir, l); len(got) > 0 {
		t.Errorf("nothing was changed, and it says %q", got)
	}
	whole := SealEpic(e)
	e.Tasks[1].Checks[0].Run = "true"
	e.Tasks[2].Protected = []string{"x"}
	want := []string{"the checks or protected paths of T2, T3 are not those of the last run, runs/epic.yml; if that was not you, look at epic.yml"}
	if got := SealChanges(e, dir, l); !slices.Equal(got, want) || SealEpic(e) == whole {
		t.Errorf("got %q", got)
	}
	l.Tasks["T2"].Completed = true
	e.Checks = oneCheck("c")
	want[0] = strings.Replace(want[0], "T2, T3", "T1, T3", 1)
	if got := SealChanges(e, dir, l); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func oneCheck(run string) []epic.Check { return []epic.Check{{Name: run, Run: run}} }

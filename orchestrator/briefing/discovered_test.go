package briefing

import (
	"reflect"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
)

func finding(runner string, found ...attempts.Discovery) attempts.Attempt {
	receipt := attempts.Receipt{Statement: attempts.Statement{Discovered: found}}
	return attempts.Attempt{Runner: runner, Result: attempts.ResultFailure, Receipt: receipt}
}

// Found work is told once, with all who found it and the first reason that is given, unless the plan has it.
func TestDiscovered(t *testing.T) {
	t.Parallel()
	s := source(
		told{id: "T1", attempts: []attempts.Attempt{
			finding("claude", attempts.Discovery{Title: "No backup"}, attempts.Discovery{Title: "task t2."}, attempts.Discovery{Title: "  "}),
			finding("claude", attempts.Discovery{Title: "no  BACKUP!", Why: "work you found and left"}),
		}},
		told{id: "T2", attempts: []attempts.Attempt{
			finding("codex", attempts.Discovery{Title: "`no backup`", Why: "disks\n\x1b[31mfail"}, attempts.Discovery{Title: "Renamed by a person"}, attempts.Discovery{Title: "n/a"}),
			finding("", attempts.Discovery{Title: "a key: hunter2", Why: "hunter2"}),
		}},
	)
	s.Epic.Tasks = append(s.Epic.Tasks, epic.Task{ID: "D1", Title: "Other", Description: "Found by T1 (claude), and left: renamed by a person\n\nWhy: no backup"})
	s.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") }
	got := Discovered(s)
	want := []Discovery{
		{Title: "No backup", Why: "disks fail", By: []string{"T1 (claude)", "T2 (codex)"}},
		{Title: "a key: [redacted]", Why: "[redacted]", By: []string{"T2"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The plan knows the tasks again that were made of found work, however long its title is.
func TestTasksOfFoundWork(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("much to be done ", 20)
	s := source(told{id: "T1", attempts: []attempts.Attempt{finding("x", attempts.Discovery{Title: long, Why: strings.Repeat("ä", whyBytes)}, attempts.Discovery{Title: "short"})}})
	tasks := DiscoveredTasks(Discovered(s), func(id string) bool { return id == "D1" || id == "D3" })
	if len(tasks) != 2 || tasks[0].ID != "D2" || tasks[1].ID != "D4" || len(tasks[0].Title) > titleBytes || len(tasks[0].Description) > whyBytes {
		t.Fatalf("got %+v", tasks)
	}
	s.Epic.Tasks = append(s.Epic.Tasks, tasks...)
	if again := Discovered(s); len(again) > 0 {
		t.Errorf("again %q", again)
	}
}

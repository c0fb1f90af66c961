package checks

import (
	"slices"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

const manyLanded = `version: 2
id: 20260101-many
title: Many
tasks:
  T1: {title: t, checks: [go test ./one]}
  T2: {title: t, files: ["two/**"], checks: [go test ./two]}
  T3: {title: t, checks: [sh three.sh]}
  T4: {title: t, checks: [go test ./four]}
  T5: {title: t, checks: [go test ./four]}
  T6: {title: t, checks: [make all]}
  T7: {title: t}
`

// ledgerOnly is a rechecker of which nothing is wanted but what the ledger says.
type ledgerOnly struct{ engine.Rechecker }

func (ledgerOnly) Commit(a attempts.Attempt) string { return a.Landed }

// Checks of tasks that landed before the tip are run again, each list once.
func TestLandedBefore(t *testing.T) {
	t.Parallel()
	e, err := epic.Read("epic.yml", []byte(manyLanded))
	if err != nil {
		t.Fatal(err)
	}
	l := &attempts.Ledger{Tasks: make(map[string]*attempts.TaskRecord)}
	for i, files := range [][]string{{"one/a.go"}, {"README.md"}, {"x/three"}, {"four/a.go"}, {"five/b.go"}, {"one/b.go", "two/deep/c.go", "three.sh"}, {"doc.md"}} {
		ended := attempts.Attempt{
			ID: 1, Run: "run", Result: attempts.ResultSuccess, Landed: "c" + e.Tasks[i].ID, EndedAt: time.Unix(int64(i), 0),
			Receipt: attempts.Receipt{FilesChanged: files},
		}
		l.Tasks[e.Tasks[i].ID] = &attempts.TaskRecord{Completed: true, Attempts: []attempts.Attempt{ended}}
	}
	f := RegressionFinder{Epic: e, View: func(read func(*attempts.Ledger)) { read(l) }, Checker: ledgerOnly{}}
	var got []string
	done, _, last := f.landedBefore("cT6")
	if last.Task.ID != "T6" {
		t.Errorf("%q landed last", last.Task.ID)
	}
	for _, task := range done {
		got = append(got, task.a.Task.ID)
	}
	if want := []string{"T1", "T2", "T3", "T4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What fails is told with what has landed since.
func TestRegressionText(t *testing.T) {
	t.Parallel()
	task := landedTask{a: engine.Attempt{Task: epic.Task{ID: "T1"}}}
	for want, since := range map[string][]string{
		"a check of T1 fails by now: make: exit status 1 (landed since: T3, T2)":             {"T3", "T2"},
		"a check of T1 fails by now: make: exit status 1 (landed since: a person's commits)": nil,
	} {
		if got := task.fails("make: exit status 1", since); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What is emptied for a task of which checks proved nothing: files that only it has changed since it began.
func TestBlindFiles(t *testing.T) {
	t.Parallel()
	e, err := epic.Read("epic.yml", []byte(manyLanded))
	if err != nil {
		t.Fatal(err)
	}
	l := &attempts.Ledger{Tasks: make(map[string]*attempts.TaskRecord)}
	for i, files := range [][]string{{"old.go", "own.go"}, {"old.go", "own.go", "lib.go", "beside.go"}, {"beside.go"}, {"lib.go", "lib_test.go"}} {
		a := attempts.Attempt{
			ID: 1, Result: attempts.ResultSuccess, Landed: "c" + e.Tasks[i].ID, Receipt: attempts.Receipt{FilesChanged: files},
			StartedAt: time.Unix(int64(10*i), 0), EndedAt: time.Unix(int64(10*i+5), 0),
		}
		if i == 1 {
			a.EndedAt = time.Unix(30, 0) // T3 landed before it, and after it began
			a.Receipt.Looks = []attempts.Look{{Cause: "proved nothing", Text: "its checks pass too with lib.go emptied: they prove nothing of this work"}}
		}
		l.Tasks[e.Tasks[i].ID] = &attempts.TaskRecord{Completed: true, Attempts: []attempts.Attempt{a}}
	}
	f := RegressionFinder{Epic: e, View: func(read func(*attempts.Ledger)) { read(l) }, Checker: ledgerOnly{}}
	_, blind, _ := f.landedBefore("cT4")
	if len(blind) != 1 || !slices.Equal(blind[0].files, []string{"old.go", "own.go"}) {
		t.Errorf("%+v", blind)
	}
	if got := l.Tasks["T2"].Attempts[0].Receipt.FilesChanged; len(got) != 4 || got[2] != "lib.go" {
		t.Errorf("the ledger has %q", got)
	}
}

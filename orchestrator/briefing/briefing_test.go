package briefing_test

import (
	"slices"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/briefing"
	"relay/orchestrator/engine"
)

// ledger is one that is only read.
type ledger map[string]attempts.TaskRecord

func (l ledger) Task(id string) attempts.TaskRecord { return l[id] }
func (l ledger) Counts() map[attempts.Status]int    { return nil }
func (l ledger) Learned(int) []int                  { return nil }

func at(minute int) time.Time { return time.Date(2026, 1, 1, 22, minute, 0, 0, time.UTC) }

func ended(r attempts.Result, began, end int) attempts.Attempt {
	return attempts.Attempt{Result: r, StartedAt: at(began), EndedAt: at(end)}
}

// A brief for another attempt has the receipts of what has landed since the last one began.
func TestLandedSince(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{}
	for _, id := range []string{"T1", "T2", "T3", "T4", "T5"} {
		e.Tasks = append(e.Tasks, epic.Task{ID: id, Title: "make " + id})
	}
	e.Tasks[3].DependsOn = []string{"T5"}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	done := func(began, end int) attempts.TaskRecord {
		return attempts.TaskRecord{Completed: true, Attempts: []attempts.Attempt{ended(attempts.ResultSuccess, began, end)}}
	}
	failed := ended(attempts.ResultFailure, 10, 20)
	under := attempts.Attempt{Result: attempts.ResultInProgress, StartedAt: at(30)}
	l := ledger{
		"T1": done(0, 5), "T2": done(5, 15), "T3": {Attempts: []attempts.Attempt{failed}}, "T5": done(5, 25),
		"T4": {Attempts: []attempts.Attempt{failed, under}},
	}
	for _, c := range []struct {
		task string
		want []string
	}{
		{"T4", []string{"T5: make T5", "T2: make T2 (landed since the last attempt at your task began)"}},
		{"T3", []string{"T2: make T2 (landed since the last attempt at your task began)", "T5: make T5 (landed since the last attempt at your task began)"}},
		{"T2", nil},
	} {
		task, _ := e.Task(c.task)
		if c.task == "T2" {
			l["T2"] = attempts.TaskRecord{}
		}
		var got []string
		for _, d := range briefing.Input(&engine.LocalOptions{Options: engine.Options{Epic: e}, Graph: g}, l, task).Dependencies {
			got = append(got, d.ID+": "+d.Title)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.task, got, c.want)
		}
	}
}

// counted is a ledger with four pending tasks and a running one.
type counted struct{ ledger }

func (counted) Counts() map[attempts.Status]int {
	return map[attempts.Status]int{attempts.Pending: 4, attempts.InProgress: 1}
}

// A brief does not count its own task among the others, whether its attempt is recorded yet or not.
func TestOthersCounted(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{Tasks: []epic.Task{{ID: "T1"}, {ID: "T2"}}}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	l := counted{ledger{"T2": {Attempts: []attempts.Attempt{{Result: attempts.ResultInProgress}}}}}
	for id, want := range map[string][3]int{"T1": {3, 1, 5}, "T2": {4, 0, 5}} {
		task, _ := e.Task(id)
		p := briefing.Input(&engine.LocalOptions{Options: engine.Options{Epic: e}, Graph: g}, l, task).Progress
		if got := [3]int{p.Left, p.Running, p.Total}; got != want {
			t.Errorf("%s: left, running, total are %v, want %v", id, got, want)
		}
	}
}

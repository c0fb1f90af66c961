package attempts_test

import (
	"fmt"
	"os"
	"time"

	"relay/attempts"
	"relay/epic"
)

// A run writes down what happens; whoever reads the folder later knows what came of it.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "relay")
	check(err)
	defer os.RemoveAll(dir)
	e := &epic.Epic{ID: "20260111-sign-up", Tasks: []epic.Task{{ID: "T1"}}}
	g, err := epic.NewGraph(e)
	check(err)
	now := func() time.Time { return time.Date(2026, 1, 11, 22, 0, 0, 0, time.UTC) }
	run := attempts.NewRunID(now())
	store, err := attempts.Open(attempts.Options{Dir: dir, Epic: e, Graph: g, Run: run, Fresh: &attempts.Settings{}, Now: now})
	check(err)
	check(store.Append(
		attempts.Event{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{Jobs: 1}},
		attempts.Event{Type: attempts.TypeAttemptStarted, Task: "T1", Attempt: 1, Started: &attempts.Started{Runner: "claude"}},
		attempts.Event{Type: attempts.TypeAttemptEnded, Task: "T1", Attempt: 1, Ended: &attempts.Ended{Result: attempts.ResultSuccess, Outcome: attempts.Success}},
	))
	check(store.Close())
	view, err := attempts.Read(dir, e, g)
	check(err)
	fmt.Println(view.Ledger.StatusOf(g, "T1"))
	// Output: completed
}

// check ends an example that cannot go on.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

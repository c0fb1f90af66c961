package briefing

import (
	"fmt"
	"reflect"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/reanchor"
)

// What has most to do with a task comes first, each once, and never what its own attempts or its dependencies say.
func TestForTask(t *testing.T) {
	t.Parallel()
	failed := ended("The login needs a cookie.", nil)
	failed.Result = attempts.ResultFailure
	running := ended("Still running.", nil)
	running.Result = attempts.ResultInProgress
	s := source(
		one("T1", "Nothing in common."),
		one("T2", "nothing in COMMON"),
		told{id: "T3", attempts: []attempts.Attempt{failed, running}},
		told{id: "T4", attempts: []attempts.Attempt{ended("Same file.", nil, "web/login.go", "x.go")}},
		told{id: "T5", declares: []string{"web/*.go"}, attempts: []attempts.Attempt{ended("Declared there.", nil)}},
		one("T6", "Tagged.", "Login"),
		one("T7", "My own learning."),
		one("T8", "Told by its receipt."),
	)
	task := &epic.Task{ID: "T7", Title: "Mend the login", Files: []string{"web/login.go"}}
	got := fmt.Sprint(LearningsFor(s, task, []string{"told by its receipt"}))
	const want = "[{T5 Declared there.} {T4 Same file.} {T6 Tagged.} {T3 The login needs a cookie.} {T2 nothing in COMMON}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var many []told
	for i := range 40 {
		many = append(many, one(fmt.Sprint("T", i), fmt.Sprint("Learning ", i)))
	}
	if got := LearningsFor(source(many...), task, nil); len(got) != MostTold || !reflect.DeepEqual(got[0], reanchor.Learning{Task: "T39", Text: "Learning 39"}) {
		t.Errorf("got %v", got)
	}
}

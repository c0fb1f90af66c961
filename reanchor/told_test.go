package reanchor

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"relay/attempts"
)

// What is recorded of a brief is in it.
func TestTold(t *testing.T) {
	t.Parallel()
	in := third()
	in.TakenUp, in.Documents = 4, []string{"AGENTS.md"}
	brief, got := Told(in)
	want := attempts.Briefed{
		Handoff: "790226e1-ffff-4333-b969-dcb00083c973", Entries: 3, Documents: []string{"docs/principles.md", "AGENTS.md"}, Continues: true,
		Unclear: []string{"How many users?", "Why?\n# no"},
	}
	if !reflect.DeepEqual(got, want) || !bytes.Equal(brief, Brief(in)) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	files := []string{"api/users.go", "api/*_test.go", "db/1_users.sql", "model/user.go"}
	if got := NamedIn(brief, in); !reflect.DeepEqual(got, files) {
		t.Errorf("names %q, want %q", got, files)
	}
	if got := NamedIn([]byte("nothing"), in); got != nil {
		t.Errorf("names %q", got)
	}
}

// Of a brief that is too long, what was cut is recorded, and what is gone is not counted.
func TestToldOfCuts(t *testing.T) {
	t.Parallel()
	in := huge()
	in.MaxBytes = 1
	in.Facts.Recent[0].Subject = in.Handoff.Text
	in.Task.Checks[0].Run = in.Handoff.Text
	in.Record.Attempts = append(in.Record.Attempts, attempts.Attempt{
		ID: 6, Result: attempts.ResultFailure, Charged: true, Receipt: in.Record.Attempts[3].Receipt,
	})
	_, got := Told(in)
	want := []string{
		"questions", "work of others", "learnings", "handoff", "older attempts", "dependencies", "git state", "other tasks", "epic", "diff of the last attempt",
		"output of the last attempt", "report of the last attempt", "paths", "description", "criteria and commands",
	}
	if !reflect.DeepEqual(got.Cut, want) {
		t.Errorf("got %+v", got)
	}
	if _, got := Told(first()); len(got.Cut) > 0 || got.Continues || got.Unclear != nil {
		t.Errorf("got %+v", got)
	}
	for r := cutThreads; r <= cutProof; r++ {
		if parts[r] == "" {
			t.Errorf("rank %d has no name", r)
		}
	}
}

// With NeverAsk a brief does not offer the status question.
func TestNeverAsk(t *testing.T) {
	t.Parallel()
	in := first()
	for _, never := range []bool{false, true} {
		in.NeverAsk = never
		if offered := strings.Contains(string(Brief(in)), "question if you"); offered == never {
			t.Errorf("never ask %v: the status question is offered: %v", never, offered)
		}
	}
}

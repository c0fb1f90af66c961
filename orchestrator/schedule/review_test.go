package schedule

import (
	"slices"
	"testing"

	"relay/attempts"
	"relay/epic"
)

// Work that waits for its review can be reviewed, also in the next run. Tasks of other files start before those on its files.
func TestWorkThatWaitsForReview(t *testing.T) {
	t.Parallel()
	e, err := epic.Read("epic.yml", []byte(`version: 2
id: 20260101-files
title: files
tasks:
  A: {title: a, files: [x.go]}
  B: {title: b, files: [x.go]}
  C: {title: c, files: [y.go]}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	able := func(_ int, names []string) (int, bool) { return 0, slices.Equal(names, []string{"codex"}) }
	waiting := attempts.Attempt{ID: 1, Result: attempts.ResultFailure, Outcome: attempts.Environment, Head: "c0ffee", Receipt: attempts.Receipt{
		Salvage: "refs/relay/kept", Review: &attempts.Reviewed{Missing: []attempts.Missing{{Reviewer: "codex", Why: "limit"}}},
	}}
	here := New(e, g, &attempts.Ledger{}, nil)
	here.Start(0)
	here.AwaitReview(0, []string{"codex"})
	later := New(e, g, &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{"A": {Attempts: []attempts.Attempt{waiting}}}}, nil)
	for name, s := range map[string]*Schedule{"in the same run": here, "in the next run": later} {
		if got := s.Next(func(i int) bool { return s.missing[i] == nil }); got != 2 {
			t.Errorf("%s: task %d is next, want the third: the second is on a file of work that waits", name, got)
		}
		if got := s.NextReview(func(int, []string) (int, bool) { return 0, false }); got != -1 {
			t.Errorf("%s: task %d may be reviewed by nobody", name, got)
		}
		if got := s.NextReview(able); got != 0 || s.CountUnreviewed() != 1 {
			t.Fatalf("%s: task %d may be reviewed, and %d wait; want the first alone", name, got, s.CountUnreviewed())
		}
		if got := s.Next(func(int) bool { return true }); got != 0 { // as a forecast asks
			t.Errorf("%s: task %d is next, want the first: its own files do not count", name, got)
		}
		copied := clone(s, Schedule{})
		copied.Start(0)
		copied.Complete(0)
		if got := s.NextReview(able); got != 0 {
			t.Errorf("%s: after a forecast task %d may be reviewed, want the first", name, got)
		}
		s.Start(0)
		if got := s.NextReview(able); got != -1 || s.CountUnreviewed() != 1 {
			t.Errorf("%s: task %d may be reviewed although it is under way", name, got)
		}
		s.Complete(0)
		if got := s.Next(func(int) bool { return true }); got != 1 || s.CountUnreviewed() != 0 {
			t.Errorf("%s: task %d is next, want the second", name, got)
		}
	}
}

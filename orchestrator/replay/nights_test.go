package replay

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
)

// recordedNights calls f with every run of the nights in testdata: real ones, that were killed and gone on with, cooled down, gated,
// reviewed, stopped by a budget or the circuit breaker.
func recordedNights(t *testing.T, f func(name string, rec Recorded)) {
	t.Helper()
	runs, err := filepath.Glob("testdata/nights/*/runs/*")
	if err != nil || len(runs) < 20 {
		t.Fatalf("there are %d runs: %v", len(runs), err)
	}
	for _, run := range runs {
		text, err := os.ReadFile(filepath.Join(run, "epic.yml"))
		if err != nil {
			t.Fatal(err)
		}
		e, err := epic.Read("epic.yml", text)
		if err != nil {
			t.Fatal(err)
		}
		g, err := epic.NewGraph(e)
		if err != nil {
			t.Fatal(err)
		}
		f(run, RecordedIn(filepath.Dir(filepath.Dir(run)), filepath.Base(run), e, g))
	}
}

func TestReplayOfRecordedNights(t *testing.T) {
	t.Parallel()
	decisions := 0
	recordedNights(t, func(name string, rec Recorded) {
		report, err := Decide(t.Context(), rec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		decisions += report.Decisions
		if len(report.Differences)+len(report.Unchecked) > 0 {
			t.Error(name, report.Lines(func(at time.Time) string { return at.Format(time.TimeOnly) }))
		}
	})
	if decisions < 300 {
		t.Errorf("%d decisions were made anew", decisions)
	}
}

// Of a log of before there were steps nothing is told to differ: what cannot be checked is counted.
func TestReplayOfOlderNights(t *testing.T) {
	t.Parallel()
	recordedNights(t, func(name string, rec Recorded) {
		starts := 0
		events := rec.Events
		rec.Events = func(f func(attempts.Event) error) error {
			return events(func(e attempts.Event) error {
				if e.Steps = nil; e.Run == rec.Run && e.Started != nil {
					starts++
				}
				if e.Ended != nil {
					e.Ended.Evidence = nil
				}
				return f(e)
			})
		}
		report, err := Decide(t.Context(), rec)
		if err != nil || report.Decisions != 0 || len(report.Differences) > 0 {
			t.Errorf("%s: %+v, %v", name, report, err)
			return
		}
		for _, u := range report.Unchecked {
			if u.Decision == Start && u.Count != starts {
				t.Errorf("%s: %d starts cannot be checked, want %d", name, u.Count, starts)
			}
		}
	})
}

// Steps that make no sense are told to differ, or not to be checkable: a replay comes to its end.
func TestReplayOfDamagedNights(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 4))
	var kinds []attempts.StepKind
	recordedNights(t, func(name string, rec Recorded) {
		for range 20 {
			damaged := rec
			damaged.Events = func(f func(attempts.Event) error) error {
				return rec.Events(func(e attempts.Event) error {
					for i := range e.Steps {
						s := &e.Steps[i]
						kinds = append(kinds, s.Kind)
						switch dice.IntN(40) {
						case 0:
							s.Kind = kinds[dice.IntN(len(kinds))]
						case 1:
							s.Task = rec.Graph.ID(dice.IntN(rec.Graph.Len()))
						case 2:
							s.Task, s.Attempt, s.Runner = "nobody", -1, "nobody"
						case 3:
							s.Tasks, s.Used, s.Unable = []string{"nobody"}, []attempts.TaskUsage{{Task: "nobody"}}, []attempts.UnableToSay{{Reviewer: "x"}}
						case 4:
							s.Rules = &attempts.Rules{Tasks: []string{"nobody"}}
						case 5:
							s.Ran, s.Drift = dice.Int64()-dice.Int64(), dice.Int64()
						}
					}
					return f(e)
				})
			}
			if _, err := Decide(t.Context(), damaged); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

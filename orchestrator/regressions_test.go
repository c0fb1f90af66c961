package orchestrator

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/checks"
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

// landedNight is a run in which the tasks of manyLanded have landed, T6 last.
func landedNight(t *testing.T, o Options) *run {
	t.Helper()
	e, err := epic.Read("epic.yml", []byte(manyLanded))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	o.Epic, o.Graph, o.Dir, o.Run, o.Jobs = e, g, t.TempDir(), "20260101T220000Z-0000", 1
	store, err := openedLedger(t, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	for i, files := range [][]string{{"one/a.go"}, {"README.md"}, {"x/three"}, {"four/a.go"}, {"five/b.go"}, {"one/b.go", "two/deep/c.go", "three.sh"}, {"doc.md"}} {
		id := g.ID(i)
		commit := "c" + id
		ended := &attempts.Ended{
			Result: attempts.ResultSuccess, Outcome: attempts.Success, Head: commit, Landed: commit, Receipt: attempts.Receipt{FilesChanged: files},
		}
		err := store.Append(attempts.Event{Type: attempts.TypeAttemptStarted, Task: id, Attempt: 1, Started: &attempts.Started{Runner: "x"}},
			attempts.Event{Type: attempts.TypeAttemptEnded, Task: id, Attempt: 1, Ended: ended})
		if err != nil {
			t.Fatal(err)
		}
	}
	return newRun(&o, store, engine.Abilities{Engine: &simulated{}, Rechecker: ledgerOnly{}})
}

// ledgerOnly is a rechecker of which nothing is wanted but what the ledger says.
type ledgerOnly struct{ engine.Rechecker }

func (ledgerOnly) Commit(a attempts.Attempt) string                            { return a.Landed }
func (ledgerOnly) BeginRecheck(context.Context, engine.Attempt, string) error  { return nil }
func (ledgerOnly) EndRecheck(context.Context, string) ([]attempts.Note, error) { return nil, nil }

// What cannot be run again in a share of the run's time, or two minutes, is named.
func TestRecheckIsBounded(t *testing.T) {
	t.Parallel()
	const told = "not run again on what has landed, for want of time, are the checks of T1, T2, T3, T4, T6"
	for name, c := range map[string]struct {
		share  float64
		began  time.Duration
		passes time.Duration
	}{
		"two minutes at least": {0.1, time.Minute, checks.LeastRegression},
		"a tenth of an hour":   {0.1, time.Hour, 6 * time.Minute},
		"no share":             {0, 9 * time.Hour, checks.LeastRegression},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := landedNight(t, Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Limits: engine.Limits{RecheckShare: c.share}}}})
			asked := 0
			n.state.Ran = func() time.Duration {
				if asked++; asked == 1 {
					return c.began
				}
				return c.began + c.passes
			}
			r, err := n.rechecker.find(t.Context(), "nowhere")
			if want := []string{"T1", "T2", "T3", "T4", "T6"}; err != nil || !slices.Equal(r.Skipped, want) {
				t.Errorf("got %q, %v; want %q", r.Skipped, err, want)
			}
			if again, err := n.rechecker.giveBack(r, nil); err != nil || again {
				t.Errorf("got again %v, %v", again, err)
			}
			if err := n.state.store.Close(); err != nil {
				t.Fatal(err)
			}
			log, err := os.ReadFile(filepath.Join(n.state.o.Dir, attempts.EventsPath(n.state.o.Run)))
			if err != nil || !strings.Contains(string(log), told) {
				t.Errorf("got %s, %v; want %q in it", log, err, told)
			}
		})
	}
}

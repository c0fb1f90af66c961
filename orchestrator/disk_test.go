package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/secrets"
)

// Only an agent in its turn is stopped for a full disk, for what it has written since that began: not one whose checks run, not a second
// one before the first has ended, and not the next attempt at the same task.
func TestFullDiskStopsTheAgentInItsTurn(t *testing.T) {
	t.Parallel()
	e, err := epic.Read("epic.yml", []byte(sideBySide(2)))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Epic:   e,
				Dir:    t.TempDir(),
				Run:    "20260101T220000Z-0000",
				Limits: engine.Limits{DiskFloor: 1000},
			},
			Graph:   g,
			Secrets: secrets.New(nil),
		},
		Policy: decide.Policy{
			Runners: []string{"claude"},
			Free:    func() decide.Free { return decide.Free{} },
		},
	}
	store, err := openedLedger(t, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	n := newRun(&o, store, abilities(&simulated{}))
	heard := make(chan engine.Event)
	listening := make(chan struct{})
	go func() { defer close(listening); n.listen(heard) }()
	dirs, causes := []string{t.TempDir(), t.TempDir()}, make([]func() error, 2)
	turn := func(i, number int, began time.Time) (over func()) {
		ctx, stop := context.WithCancelCause(t.Context())
		causes[i] = func() error { return context.Cause(ctx) }
		n.state.WithLock(func() { n.limits.Begin(&e.Tasks[i], attempts.Usage{}, stop) })
		return engine.Events(heard).Turn(ctx, engine.Attempt{Task: e.Tasks[i], Number: number}, dirs[i], began)
	}
	handled := func() { heard <- engine.Event{Kind: engine.KindTurn} } // taken once those before are
	stopped := func(what string, want ...bool) {
		t.Helper()
		handled()
		stopFiller(n.state, n.limits)
		for i := range causes {
			if got := errors.Is(causes[i](), engine.ErrFilled); got != want[i] {
				t.Errorf("%s: T%d is stopped: %t, want %t", what, i+1, got, want[i])
			}
		}
	}
	for i, size := range []int{2000, 4000} {
		if err := os.WriteFile(filepath.Join(dirs[i], "large"), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, later := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	over := [2]func(){turn(0, 1, later), turn(1, 1, before)}
	over[1]()
	stopped("one has written before its turn, the other is checked", false, false)
	over[0]()
	over[0] = turn(0, 1, before)
	stopped("one works", true, false)
	over[1] = turn(1, 1, before)
	stopped("it is ending", true, false)
	over[0]()
	handled()
	stale := decide.Place{Attempt: 2, Dir: dirs[1], Since: before}
	n.state.WithLock(func() { n.limits.Cancel("T2", stale, engine.ErrFilled) })
	if err := causes[1](); err != nil {
		t.Errorf("another attempt of its task was meant: %v", err)
	}
	stopped("it has ended", true, true)
	close(heard)
	<-listening
}

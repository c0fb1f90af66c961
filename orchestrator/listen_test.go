package orchestrator

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// The log has the phases of an attempt that takes more than a moment, each once.
func TestPhases(t *testing.T) {
	t.Parallel()
	e, err := epic.Read("epic.yml", []byte(threeInARow))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		LocalOptions: engine.LocalOptions{Options: engine.Options{Epic: e, Dir: memoryDir(t), Run: "20260101T220000Z-0000"}, Graph: g},
		Policy:       decide.Policy{Runners: []string{"claude"}, Notify: func(decide.Update) {}},
	}
	synctest.Test(t, func(t *testing.T) {
		store, err := openedLedger(t, &o)
		if err != nil {
			t.Fatal(err)
		}
		heard := make(chan engine.Event)
		go func() {
			defer close(heard)
			heard <- engine.Event{Task: "A", Kind: engine.KindChecking} // before the work
			heard <- engine.Event{Task: "A", Attempt: 1, Kind: engine.KindBriefed, Briefed: &attempts.Briefed{Bytes: 1}}
			heard <- engine.Event{Task: "A", Kind: engine.KindChecking} // it takes a moment only
			for _, kind := range []engine.EventKind{
				engine.KindActivity, engine.KindUsage, engine.KindChecking, engine.KindChecking, engine.KindReviewing, engine.KindMending,
				engine.KindActivity, engine.KindChecking,
			} {
				time.Sleep(time.Minute) //nolint:forbidigo // fake time
				heard <- engine.Event{Task: "A", Kind: kind}
			}
		}()
		newRun(&o, store, abilities(&simulated{})).listener.listen(heard)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	var got []string
	err = attempts.Replay(o.Dir, func(e attempts.Event) error {
		if e.Type == attempts.TypePhase {
			got = append(got, e.Task+" "+e.Phase)
		}
		return nil
	})
	if want := []string{"A checking", "A reviewing", "A activity", "A checking"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

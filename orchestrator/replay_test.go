package orchestrator

import (
	"context"
	"fmt"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/replay"
)

// over writes the last event of a run that a test has carried out itself.
func (r *run) stopForTest(t *testing.T, ctx context.Context, err error) {
	t.Helper()
	stopped := &attempts.RunStopped{Reason: string(decide.NoRunnableTasks)}
	if err != nil || ctx.Err() != nil || r.limits.ClosedEarly() || r.state.Drained() {
		stopped.Reason = string(decide.Failed)
	}
	if err := r.state.store.Append(r.state.CarrySteps(attempts.Event{Type: attempts.TypeRunStopped, RunStopped: stopped})...); err != nil {
		t.Error(err)
	}
}

// replayed decides a run anew that a test has recorded.
func replayed(t *testing.T, o *Options, with replay.Code) *replay.Report {
	t.Helper()
	report, err := replay.DecideBy(t.Context(), replay.RecordedIn(o.Dir, o.Run, o.Epic, o.Graph), with)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// asRecorded fails the test unless every decision of a run is made as it was recorded.
func asRecorded(t *testing.T, o *Options) *replay.Report {
	t.Helper()
	report := replayed(t, o, replay.Current())
	if len(report.Differences)+len(report.Unchecked) > 0 || report.Decisions == 0 {
		for _, line := range report.Lines(func(at time.Time) string { return at.Format(time.TimeOnly) }) {
			t.Error(line)
		}
	}
	return report
}

// Every decision of a thousand random nights is made as it was recorded.
func TestReplayOfRandomNights(t *testing.T) {
	t.Parallel()
	const lanes, each = 8, 85 // TestRandomNights replays 320 others
	for lane := range uint64(lanes) {
		t.Run(fmt.Sprint(lane), func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			for seed := 1000 + lane*each; seed < 1000+(lane+1)*each && !t.Failed(); seed++ {
				gamble(t, seed)
			}
		})
	}
}

// A replay of thousands of tasks takes moments, and seconds for ten thousand.
func TestReplayOfALargeNight(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it records a thousand tasks")
	}
	const tasks = 1000
	e, err := epic.Read("epic.yml", []byte(sideBySide(tasks)))
	if err != nil {
		t.Fatal(err)
	}
	takes := map[string]time.Duration{}
	for _, task := range e.Tasks {
		takes[task.ID] = time.Minute
	}
	l := layered{e, takes}
	dir := l.nightIn(t, 8, -1)
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Dir: dir, Run: "20260101T220000Z-0000", Epic: e}, Graph: g}}
	report := asRecorded(t, &o)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d decisions took %s", report.Decisions, took)
	} else {
		t.Logf("%d decisions took %s", report.Decisions, took)
	}
}

package attempts

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"
)

// What a runner was closed for outlives the run that was told so; what is over is forgotten, and a person can forget the
// rest.
func TestCoolingIsFolded(t *testing.T) {
	t.Parallel()
	ten := clock()()
	in := func(d time.Duration) time.Time { return ten.Add(d) }
	cool := func(runner string, until time.Time) Event {
		return Event{Type: TypeCooldown, Cooldown: &Cooldown{Runner: runner, Until: until, Named: true, Why: "limit"}}
	}
	_, g := plan(t, 2)
	f := newFold(g, nil)
	seq := uint64(0)
	fold := func(at time.Duration, ev Event) {
		seq++
		ev.Seq, ev.At, ev.Run = seq, in(at), run1
		line, back, err := encode(nil, ev)
		must(t, err)
		sameDecoding(t, line[:len(line)-1])
		f.apply(&back)
	}
	until := func(runner string) time.Time { return f.ledger.Cooldowns[runner].Until }
	fold(0, cool("claude", in(5*time.Hour)))
	fold(0, cool("claude", in(time.Hour)))
	fold(0, cool("codex", in(time.Minute)))
	fold(time.Second, Event{Type: TypeRunStopped, RunStopped: &RunStopped{}})
	fold(2*time.Second, Event{Type: TypeRunStarted, RunStarted: &RunStarted{EpicID: "x"}})
	if !until("claude").Equal(in(5*time.Hour)) || !until("codex").Equal(in(time.Minute)) || f.ledger.Cooldowns["claude"].Why != "limit" {
		t.Errorf("got %+v, want claude for five hours and codex for a minute", f.ledger.Cooldowns)
	}
	fold(time.Hour, cool("gemini", in(2*time.Hour)))
	if !until("codex").IsZero() || until("gemini").IsZero() {
		t.Errorf("got %+v, want codex forgotten", f.ledger.Cooldowns)
	}
	fold(time.Hour, cool("claude", time.Time{}))
	if !until("claude").IsZero() || until("gemini").IsZero() {
		t.Errorf("got %+v, want gemini alone", f.ledger.Cooldowns)
	}
}

// A wait is over when something starts, and with the run.
func TestWaitingIsFolded(t *testing.T) {
	t.Parallel()
	_, g := plan(t, 2)
	for name, over := range map[string]Event{
		"start": started("T1", 1), "stop": {Type: TypeRunStopped, RunStopped: &RunStopped{}}, "run": {Type: TypeRunStarted, RunStarted: &RunStarted{EpicID: "x"}},
	} {
		f := newFold(g, nil)
		wait := Event{Seq: 1, Type: TypeWaiting, Waiting: &Waiting{Until: clock()(), For: "claude", Why: "limit"}}
		if f.apply(&wait); f.ledger.Waiting == nil || f.ledger.Waiting.For != "claude" {
			t.Errorf("%s: got %+v, want a wait for claude", name, f.ledger.Waiting)
		}
		if f.apply(&over); f.ledger.Waiting != nil {
			t.Errorf("%s: got %+v, want no wait", name, f.ledger.Waiting)
		}
	}
}

// What a run is about holds until the next one.
func TestChosenTasksAreFolded(t *testing.T) {
	t.Parallel()
	f := newFold(nil, nil)
	for _, want := range [][]string{{"T1", "T7"}, nil} {
		e := Event{Type: TypeRunStarted, RunStarted: &RunStarted{EpicID: "x", Tasks: want}}
		if f.apply(&e); !slices.Equal(f.ledger.Chosen, want) {
			t.Errorf("got %v, want %v", f.ledger.Chosen, want)
		}
	}
}

// A log of a relay that knew neither is read as ever, and one that knows more is too.
func TestOlderAndNewerLogs(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile("testdata/events.jsonl")
	must(t, err)
	f := newFold(nil, nil)
	var e Event
	for line := range bytes.Lines(old) {
		must(t, decode(bytes.TrimSuffix(line, []byte("\n")), &e))
		f.apply(&e)
	}
	must(t, decode([]byte(`{"seq":99,"type":"cooling","cooling":{"runner":"a","until":"2126-01-01T00:00:00Z","mood":"bad"},"more":1}`), &e))
	if f.apply(&e); f.ledger.Cooldowns["a"].Until.Year() != 2126 || len(f.ledger.Tasks) == 0 {
		t.Errorf("got %+v", f.ledger.Cooldowns)
	}
}

package orchestrator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic/slowtest"
	"relay/orchestrator/engine"
)

// ask has a person ask something of a run, and returns what became of it.
func ask(asks chan<- Ask, what attempts.RequestKind, task string, done <-chan struct{}) (message string, err error) {
	answered := make(chan struct{})
	request := Ask{Request: attempts.Request{What: what}, Task: task, Answer: func(m string, e error) {
		message, err = m, e
		close(answered)
	}}
	select {
	case asks <- request:
		<-answered
	case <-done:
		err = errors.New("the run is over")
	}
	return message, err
}

// askAtRandom has a person ask all kinds of things at random times, and end each pause.
func askAtRandom(t *testing.T, c *chance, n *run) (over func()) {
	t.Helper()
	asks := make(chan Ask)
	n.state.o.Asks, c.asked = asks, true
	done, gone := make(chan struct{}), make(chan struct{})
	heeded := n.requests.heed(t.Context())
	kinds := []attempts.RequestKind{
		attempts.RequestGate, attempts.RequestUngate, attempts.RequestRetry, attempts.RequestStop, attempts.RequestPause,
		attempts.RequestContinue, attempts.RequestUngate, attempts.RequestRetry,
	}
	go func() {
		defer close(gone)
		r := rand.New(rand.NewPCG(c.seed, 11))
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Duration(r.Int64N(int64(40 * time.Minute)))):
			}
			what, task := kinds[r.IntN(len(kinds))], c.e.Tasks[r.IntN(len(c.e.Tasks))].ID
			if what == attempts.RequestPause || what == attempts.RequestContinue {
				task = ""
			}
			if _, err := ask(asks, what, task, done); err != nil && !errors.As(err, new(*attempts.RefusedError)) && err.Error() != "the run is over" {
				t.Errorf("seed %d: %s %s: %v", c.seed, what, task, err)
			}
		}
	}()
	return func() { close(done); <-gone; heeded() }
}

// Whatever a person asks at whatever time, every random night ends, loses no task and is decided anew as it was recorded.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	const lanes, each = 8, 25
	for lane := range uint64(lanes) {
		t.Run(fmt.Sprint(lane), func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			for seed := 7000 + lane*each; seed < 7000+(lane+1)*each && !t.Failed(); seed++ {
				gambleWith(t, seed, askAtRandom)
			}
		})
	}
}

// What a person asks, at a time, and what they are told.
type asking struct {
	after time.Duration
	what  attempts.RequestKind
	task  string
	want  string // "!": refused, with this
}

// Each request does what it says, at once or when what runs has ended, and refuses what cannot be.
func TestRequests(t *testing.T) {
	t.Parallel()
	limit := step{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}
	for name, c := range map[string]struct {
		jobs    int
		script  map[string][]step
		asks    []asking
		want    string
		elapsed time.Duration
	}{
		"a pause, and its end": {
			asks: []asking{
				{30 * time.Second, attempts.RequestPause, "", "paused: nothing new starts, and 1 task under way comes to an end; relay pause --off goes on"},
				{time.Second, attempts.RequestPause, "", "the run is paused already: relay pause --off"},
				{time.Hour, attempts.RequestContinue, "", "the run goes on"},
				{time.Second, attempts.RequestContinue, "", "the run is not paused"},
			},
			want: "A claude 0s, B claude 1h0m31s, C claude 1h1m31s, X claude 1h2m31s", elapsed: time.Hour + 3*time.Minute + 31*time.Second,
		},
		"a stop, and another try": {
			asks: []asking{
				{30 * time.Second, attempts.RequestStop, "A", "A is asked to end, uncharged: what it has done is kept as refs/relay/20260101-night/A/1; this run does not try it again before relay retry A"},
				{time.Second, attempts.RequestStop, "A", "!A is not running, but pending; relay gate A keeps it from being tried"},
				{time.Second, attempts.RequestUngate, "A", "!A is not gated, but was stopped; relay retry A tries it again"},
				{43 * time.Second, attempts.RequestRetry, "A", "A is tried as soon as a job is free"},
				{20 * time.Second, attempts.RequestRetry, "A", "!A is being tried now; relay stop A ends that attempt; relay retry A then tries it again"},
			},
			want: "A claude 0s, X claude 30s, A claude 1m30s, B claude 2m30s, C claude 3m30s", elapsed: 4*time.Minute + 30*time.Second,
		},
		"a gate of what waits, and its end": {
			asks: []asking{
				{30 * time.Second, attempts.RequestGate, "X", "X is gated"},
				{0, attempts.RequestGate, "X", "X is gated already: waits for a person"},
				{0, attempts.RequestGate, "A", "A is gated: its running attempt goes on, and is the last; relay stop A ends that too"},
				{0, attempts.RequestRetry, "B", "!B waits for A; relay status says what keeps these"},
				{0, attempts.RequestGate, "Q", "!the run has no task Q; it keeps the plan that it began with: relay reload applies an edited epic.yml"},
				{time.Minute, attempts.RequestUngate, "X", "X will be tried again"},
				{0, attempts.RequestUngate, "A", "!A is not gated, but completed; relay status lists the gated tasks"},
				{0, attempts.RequestStop, "A", "!A is not running, but completed"},
				{0, attempts.RequestRetry, "A", "!A is completed; when the run has ended, relay retry A makes it pending again"},
				{0, attempts.RequestGate, "A", "!A is completed; after this run, relay retry A makes it pending again; then it can be gated"},
				{0, "dance", "", "!the run does not know dance"},
				{0, "dance", "A", "!the run does not know dance"},
			},
			want: "A claude 0s, B claude 1m0s, C claude 2m0s, X claude 3m0s", elapsed: 4 * time.Minute,
		},
		"a gate of what runs, which fails": {
			script: map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Agent, why: "no"}}},
			asks:   []asking{{30 * time.Second, attempts.RequestGate, "A", "A is gated: its running attempt goes on, and is the last; relay stop A ends that too"}},
			want:   "A claude 0s, X claude 1m0s", elapsed: 2 * time.Minute,
		},
		"a try in spite of a limit": {
			script: map[string][]step{"A": {limit}},
			asks: []asking{
				{time.Hour, attempts.RequestPause, "", "paused: nothing new starts; relay pause --off goes on"},
				{0, attempts.RequestRetry, "A", "A is tried as soon as a job is free, after the pause: relay pause --off"},
				{0, attempts.RequestContinue, "", "the run goes on"},
			},
			want: "A claude 0s, A claude 1h0m0s, B claude 1h1m0s, C claude 1h2m0s, X claude 1h3m0s", elapsed: time.Hour + 4*time.Minute,
		},
		"a gate of what runs, and another try": {
			asks: []asking{
				{30 * time.Second, attempts.RequestGate, "A", "A is gated: its running attempt goes on, and is the last; relay stop A ends that too"},
				{0, attempts.RequestRetry, "A", "A will be tried again when its running attempt has ended"},
			},
			want: "A claude 0s, B claude 1m0s, C claude 2m0s, X claude 3m0s", elapsed: 4 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := func(t *testing.T, n *run) (over func()) {
				t.Helper()
				return askInTurn(t, n, c.asks)
			}
			simulateUntil(t, "", scene{epic: threeInARow, o: Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: max(c.jobs, 1)}}}, script: c.script, person: asked}, func(s *simulated, _ *attempts.Store, err error) {
				if got := strings.Join(s.log, ", "); err != nil || got != c.want {
					t.Errorf("got %s (%v), want %s", got, err, c.want)
				}
				if got := time.Since(s.start); got != c.elapsed {
					t.Errorf("it ended after %s, want %s", got, c.elapsed)
				}
			})
		})
	}
}

// asked is queueing with a person who asks things of the run.
type asked struct {
	*queueing
	list []asking
}

func (a *asked) person(t *testing.T, n *run) (over func()) {
	t.Helper()
	return askInTurn(t, n, a.list)
}

// Work that is proved lands, whatever is asked of its task.
func TestRequestsOfProvedWork(t *testing.T) {
	t.Parallel()
	trained(t, sideBySide(2), func(t *testing.T, run func(engine.Engine) *attempts.Store) {
		t.Helper()
		q := &queueing{simulated: &simulated{script: map[string][]step{}, start: time.Now()}}
		store := run(&asked{q, []asking{
			{5 * time.Minute, attempts.RequestStop, "T1", "!no agent works on T1 any more: its work is checked, or waits for its landing"},
			{0, attempts.RequestGate, "T1", "T1 is gated: its work is proved, and lands all the same"},
			{0, attempts.RequestPause, "", "paused: nothing new starts, and 2 tasks under way come to an end; relay pause --off goes on"},
		}})
		if rec := store.Task("T1"); !rec.Completed || rec.Gate != nil {
			t.Errorf("T1 is completed: %v, gated: %v", rec.Completed, rec.Gate)
		}
	})
}

// A run that comes to its end carries nothing out any more.
func TestRequestOfARunThatEnds(t *testing.T) {
	t.Parallel()
	var n *run
	person := func(_ *testing.T, r *run) (over func()) { n = r; return func() {} }
	simulateUntil(t, "", scene{epic: threeInARow, person: person}, func(*simulated, *attempts.Store, error) {
		if n.goesOn(false) {
			t.Error("it goes on")
		}
		_, err := n.requests.carryOut(Ask{Task: "A", Request: attempts.Request{What: attempts.RequestRetry}})
		refused, ok := errors.AsType[*attempts.RefusedError](err)
		if !ok || refused.Reason != "the run is just coming to its end" || refused.Hint != "type it again when the run has ended: relay status --watch" {
			t.Errorf("got %v", err)
		}
	})
}

// askInTurn asks one thing after the other, and holds the answers against what is wanted.
func askInTurn(t *testing.T, n *run, list []asking) (over func()) {
	t.Helper()
	asks, done, gone := make(chan Ask), make(chan struct{}), make(chan struct{})
	n.state.o.Asks = asks
	heeded := n.requests.heed(t.Context())
	go func() {
		defer close(gone)
		for _, a := range list {
			time.Sleep(a.after) //nolint:forbidigo // in a bubble of fake time
			got, err := ask(asks, a.what, a.task, done)
			if refused, ok := errors.AsType[*attempts.RefusedError](err); ok {
				got = strings.TrimSuffix("!"+refused.Reason+"; "+refused.Hint, "; ")
			}
			if got != a.want {
				t.Errorf("%s %s: %q, want %q", a.what, a.task, got, a.want)
			}
		}
	}()
	return func() { close(done); <-gone; heeded() }
}

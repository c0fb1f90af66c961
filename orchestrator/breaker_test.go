package orchestrator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
)

// What a breaker does, event by event: "1 disk" is a failure of task 1 with that error, "1! disk" one that gates it,
// "+1" its completion, ">1" its start, "10m" time that passes.
func TestBreaker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events, want string // want: what it does, with the time
	}{
		"first failures alike":         {"1 disk,2 disk,3 disk", ""},
		"second tries too":             {"1 disk,2 disk,3 disk,1 disk,2 disk,3 disk", "opens 15m"},
		"different errors":             {"1 a,2 b,3 c,1 a,2 b,3 c", ""},
		"five whatever the error":      {"1 a,2 b,3 c,4 d,5 e,1 f,2 g,3 h,4 i,5 j", "opens 15m"},
		"five first failures":          {"1 a,2 b,3 c,4 d,5 e,6 f,7 g", ""},
		"nothing was printed":          {"1 ,2 ,3 ,1 ,2 ,3 ", ""},
		"gated at once":                {"1! disk,2! disk,3! disk", "opens 15m"},
		"one was completed":            {"1 disk,2 disk,3 disk,1 disk,2 disk,+4,3 disk", ""},
		"a second try in flight":       {"1! disk,2! disk,3! disk,+4", "opens 15m,closes"},
		"it was another error":         {"1 disk,2 disk,3 disk,1 other,2 disk,3 disk", ""},
		"too early":                    {"1! disk,2! disk,3! disk,14m,>4", "opens 15m,held"},
		"the probe is completed":       {"1! disk,2! disk,3! disk,15m,>4,+4,>5,>6", "opens 15m,closes"},
		"one at a time":                {"1! disk,2! disk,3! disk,15m,>4,>5", "opens 15m,held"},
		"the probe fails once":         {"1! disk,2! disk,3! disk,15m,>4,4 new,>4,+4", "opens 15m,closes"},
		"the probe fails twice":        {"1! disk,2! disk,3! disk,15m,>4,4 new,>4,4 new,29m,>5", "opens 15m,opens 30m,held"},
		"the probe fails alike":        {"1! disk,2! disk,3! disk,15m,>4,4 disk", "opens 15m,opens 30m"},
		"two tasks fail":               {"1! disk,2! disk,3! disk,15m,>4,4 a,>5,5 b", "opens 15m,opens 30m"},
		"one that began before":        {"1! disk,2! disk,3! disk,4 disk,4 disk,15m,>5,6 disk,6 disk,+5", "opens 15m,closes"},
		"no third pause is the last":   {"1! disk,2! disk,3! disk,15m,>4,4! disk,30m,>5,5! disk,60m,>6,6! disk", "opens 15m,opens 30m,opens 60m,opens 120m,gives up"},
		"a success forgets the pauses": {"1! disk,2! disk,3! disk,15m,>4,4! disk,30m,>5,+5,6! disk,7! disk,8! disk", "opens 15m,opens 30m,closes,opens 15m"},
	} {
		if got := breakerDoes(t, c.events); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func breakerDoes(t *testing.T, events string) string {
	t.Helper()
	b, now, running := breaker{sameError: 3, failedInARow: 5, pause: 15 * time.Minute}, clock.Instant{Day: midnight}, -1
	var got []string
	for e := range strings.SplitSeq(events, ",") {
		index := 0
		_, _ = fmt.Sscanf(strings.Trim(e, "+> "), "%d", &index)
		switch wait, err := time.ParseDuration(e); {
		case err == nil:
			now = clock.Instant{Day: now.Day.Add(wait), Run: now.Run + wait}
		case e[0] == '>':
			if ok, _ := b.admits(now, running == b.probe); !ok {
				got = append(got, "held")
				continue
			}
			b.begin(index)
			running = index
		case e[0] == '+':
			if running = -1; b.complete() {
				got = append(got, "closes")
			}
		default:
			what, cause, _ := strings.Cut(e, " ")
			if running == index {
				running = -1
			}
			if b.fail(failedTask{index: index, id: fmt.Sprintf("T%d", index), gated: strings.HasSuffix(what, "!"), cause: cause, said: cause}, now) {
				got = append(got, fmt.Sprintf("opens %dm", b.opens.Rest(now)/time.Minute))
			}
		}
	}
	if b.exhausted() {
		got = append(got, "gives up")
	}
	return strings.Join(got, ",")
}

// A night goes on after failures that have nothing in common, and after a pause when what they had in common has passed.
// One in which everything fails for one reason ends, and has paid for few attempts.
func TestNightsWithFailures(t *testing.T) {
	t.Parallel()
	fails := func(n int, why string) []step {
		var steps []step
		for range n {
			steps = append(steps, failing(why))
		}
		return steps
	}
	all := func(n int, why string) map[string][]step {
		script := map[string][]step{}
		for i := range 100 {
			script[fmt.Sprintf("T%d", i+1)] = fails(n, why)
		}
		return script
	}
	own := map[string][]step{}
	for i := range 8 {
		id := fmt.Sprintf("T%d", i+1)
		own[id] = fails(1, fmt.Sprintf("test_%d: expected %d, got %d", i, 3*i, 44-i))
	}
	nothing := map[string][]step{}
	for i := range 8 {
		nothing[fmt.Sprintf("T%d", i+1)] = fails(2, "exit status 1")
	}
	hour := all(0, "") // what they need is away for the first hour
	for i := range 3 {
		hour[fmt.Sprintf("T%d", i+1)] = fails(3, "connection refused")
	}
	hour["T4"], hour["T5"] = fails(2, "connection refused"), fails(2, "connection refused") // T5 is what is tried after each pause
	for name, c := range map[string]struct {
		script      map[string][]step
		jobs, tasks int
		until       time.Duration
		most        int // attempts
		completed   int
		want        string // why it ended early
	}{
		"eight first failures of their own": {script: own, jobs: 6, tasks: 8, most: 16, completed: 8},
		"nothing was printed":               {script: nothing, jobs: 3, tasks: 4, most: 12, completed: 4},
		"a bad hour":                        {script: hour, jobs: 2, tasks: 12, most: 18, completed: 8},
		"everything fails":                  {script: all(9, "no space left on device"), jobs: 1, tasks: 100, most: 9, want: "T1, T2, T3 failed with the same error, so it is hardly theirs: no space left on device; 3 pauses, the last of 1h0m0s, have not changed that"},
		"everything, side by side":          {script: all(9, "no space left on device"), jobs: 6, tasks: 100, most: 18, want: "hardly theirs"},
		"no hour left":                      {script: all(9, "no space left on device"), jobs: 1, tasks: 100, until: 10 * time.Minute, most: 6, want: "T1, T2, T3 failed with the same error, so it is hardly theirs: no space left on device"},
	} {
		o := Options{Jobs: c.jobs, Limits: Limits{FailedInARow: 5, SameError: 3}}
		if c.until > 0 {
			o.Until = midnight.Add(c.until)
		}
		simulate(t, sideBySide(c.tasks), o, c.script, func(s *simulated, store *attempts.Store, err error) {
			completed := store.Counts()[attempts.Completed]
			if err != nil || len(s.log) > c.most || completed != c.completed {
				t.Errorf("%s: %d attempts, %d completed (%v); want at most %d, and %d", name, len(s.log), completed, err, c.most, c.completed)
			}
			if c.want == "" && s.halted != (halt{}) || c.want != "" && (s.halted.reason != CircuitBreaker || !strings.Contains(s.halted.why, c.want)) {
				t.Errorf("%s: it ended with %+v, want %q", name, s.halted, c.want)
			}
		})
	}
}

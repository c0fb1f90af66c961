package limits

import (
	"fmt"
	"strings"
	"testing"
	"time"
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
	b := NewBreaker(BreakerLimits{SameError: 3, InARow: 5, Pause: 15 * time.Minute})
	now, running := Instant{Day: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}, -1
	var got []string
	for e := range strings.SplitSeq(events, ",") {
		index := 0
		_, _ = fmt.Sscanf(strings.Trim(e, "+> "), "%d", &index)
		switch wait, err := time.ParseDuration(e); {
		case err == nil:
			now = Instant{Day: now.Day.Add(wait), Run: now.Run + wait}
		case e[0] == '>':
			if ok, _ := b.Admits(now, running == b.probe); !ok {
				got = append(got, "held")
				continue
			}
			b.Begin(index)
			running = index
		case e[0] == '+':
			if running = -1; b.Complete() {
				got = append(got, "closes")
			}
		default:
			what, cause, _ := strings.Cut(e, " ")
			if running == index {
				running = -1
			}
			if b.Fail(Failure{Task: index, ID: fmt.Sprintf("T%d", index), Gated: strings.HasSuffix(what, "!"), Cause: cause, Message: cause}, now) {
				got = append(got, fmt.Sprintf("opens %dm", b.opens.Rest(now)/time.Minute))
			}
		}
	}
	if b.Exhausted() {
		got = append(got, "gives up")
	}
	return strings.Join(got, ",")
}

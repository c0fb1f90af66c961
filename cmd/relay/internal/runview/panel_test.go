package runview

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/view"
	"relay/orchestrator/view/viewtest"
)

// The panel says what the night has taken and when it may end, and of each task what that has taken; in any window.
func TestPanel(t *testing.T) {
	t.Parallel()
	night := viewtest.Of(t, 40)
	p, now := newPanel(false), night.Now.Local()
	if got := p.view(now, 100, 24); len(got) > 0 {
		t.Errorf("before the model is read: %q", got)
	}
	p.night = night.Builder().Night(night.Now)
	p.night.Forecast = &view.Forecast{
		P10: now.Add(time.Hour), P50: now.Add(2 * time.Hour), P90: now.Add(4 * time.Hour), BasedOn: 12, USD: &[3]float64{2, 5, 13},
	}
	p.take(decide.Update{Kind: decide.Used, Task: "T39", Usage: attempts.Usage{InputTokens: 9000, CostUSD: 0.25}})
	p.take(decide.Update{Kind: decide.Used, Task: "T39", Usage: attempts.Usage{InputTokens: 9000, CostUSD: 0.75}})
	p.take(decide.Update{Kind: decide.Activity, Task: "T39", Text: "Bash \x1b[2J go test"})
	p.take(decide.Update{Kind: decide.Used, Task: "T40", Usage: attempts.Usage{InputTokens: 45_000, CachedTokens: 5000}})
	at := func(d time.Duration) string { return now.Add(d).Format("15:04") }
	want := `[################....] 33 of 40 tasks done (2 to look at), 3 more need you, 2 running, 2 waiting. Answer T26 first: T38 waits for it.
  8h02m, 18.60 USD of 50.00, done about ` + at(2*time.Hour) + " (" + at(time.Hour) + " to " + at(4*time.Hour) + `), $23 (20 to 31) of 50
  T39 1/3 codex, 39m00s, 0.75 USD: Bash \u001b[2J go test
  T40 1/3 claude, 25m00s, 40k tokens: Change log and notes`
	if got := strings.Join(p.view(now, 160, 24), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, width := range []int{20, 40, 60, 160} {
		for _, row := range p.view(now, width, 7) {
			if displaywidth.String(row) > width {
				t.Errorf("%q is wider than %d columns", row, width)
			}
		}
	}
	if got := p.view(now, 80, 7); len(got) != 4 || got[3] != "  and 1 more" {
		t.Errorf("in a low window: %q", got)
	}
	p.take(decide.Update{Kind: decide.Started, Task: "T39"})
	if got := p.view(now, 80, 24)[2]; got != "  T39 1/3 codex, 39m00s: Web hooks for states" {
		t.Errorf("another attempt has begun: %q", got)
	}
	p.night.Working[0].Phase, p.night.Run.Waits = view.PhaseLanding, &view.Wait{For: "claude", Until: now.Add(time.Hour)}
	rows := p.view(now, 80, 24)
	if rows[2] != "  T39 1/3 codex, 39m00s: proved, waits to land" || rows[4] != "  waiting until "+now.Add(time.Hour).Format(time.TimeOnly)+" for claude" {
		t.Errorf("got %q", rows)
	}
	p.night.Run.Paused = now
	if got := p.view(now, 80, 24)[4]; got != "  paused by you since "+at(0)+": relay pause --off" {
		t.Errorf("got %q", got)
	}
}

func TestCostAndCap(t *testing.T) {
	t.Parallel()
	usd, tokens := view.Cap{Scope: "run", USD: &view.Bound[float64]{Cap: 50}}, view.Cap{Scope: "run", Tokens: &view.Bound[int64]{Cap: 2_000_000}}
	for _, c := range []struct {
		cap  view.Cap
		used attempts.Usage
		want string
	}{
		{usd, attempts.Usage{}, ""},
		{tokens, attempts.Usage{InputTokens: 40_000}, "40k tokens of 2.0M"},
		{usd, attempts.Usage{InputTokens: 40_000}, "40k tokens"}, // without a known price
		{view.Cap{}, attempts.Usage{CostUSD: 0.5, Estimated: true}, "~0.50 USD"},
	} {
		n := &view.Night{Money: view.Money{Caps: []view.Cap{c.cap}}}
		if got := costText(c.used); got != "" && got+capText(n, c.used) != c.want || got == "" && c.want != "" {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	ended := decide.Update{
		Kind: decide.Completed, Task: "T1", Elapsed: 3 * time.Minute, Usage: attempts.Usage{CostUSD: 0.42}, Text: "wrote it",
		Counts: decide.Counts{Total: 5, Completed: 1},
	}
	if got, want := updateText(ended), "T1 completed in 3m00s, 0.42 USD, 1 of 5 done: wrote it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The night is read beside the display, one reading at a time, and erased before the next line.
func TestLive(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	l := &live{w: &out, now: func() time.Time { return at }, panel: newPanel(false)}
	l.show(decide.Update{Kind: decide.Started, Task: "T1", Title: "One", Attempt: 1, Try: 1, Max: 3, Runner: "claude", At: at})
	asked, answer := make(chan bool), make(chan *view.Night)
	l.follow(func() *view.Night {
		asked <- true
		return <-answer
	})
	l.tick()
	<-asked
	l.tick() // it is not read a second time meanwhile
	answer <- &view.Night{Sentence: view.Sentence{Done: 1, Total: 2}}
	for l.panel.night == nil {
		l.tick()
	}
	<-asked
	l.show(decide.Update{Kind: decide.Completed, Task: "T1", At: at, Text: "done", Counts: decide.Counts{Total: 1, Completed: 1}})
	l.close()
	want := "03:04:05 T1 attempt 1/3 started (claude): One\n" +
		"[##########..........] 1 of 2 tasks done.\n" +
		"\x1b[1A\r\x1b[J03:04:05 T1 completed in 0.0s, 1 of 1 done: done\n" +
		"[##########..........] 1 of 2 tasks done.\n" +
		"\x1b[1A\r\x1b[J"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	answer <- nil
}

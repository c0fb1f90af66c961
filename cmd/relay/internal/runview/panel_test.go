package runview

import (
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/attempts"
	"relay/cmd/relay/internal/status"
	"relay/orchestrator/decide"
)

// The panel says what the run has taken and when it may end, and of each task what that has taken; in any window.
func TestPanelSaysWhatIsTakenAndLeft(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.Local)
	paid := func(usd float64) attempts.Usage {
		return attempts.Usage{InputTokens: 9000, OutputTokens: 100, CostUSD: usd}
	}
	counts := decide.Counts{Total: 60, Completed: 12, InProgress: 2, Pending: 45, Gated: 1}
	var p panel
	for _, u := range []decide.Update{
		{Kind: decide.UpdateRun, At: at, Usage: paid(1), MaxUSD: 50, Counts: counts},
		{Kind: decide.Completed, Task: "T9", At: at, Usage: paid(7)}, // by a run that was killed
		{Kind: decide.Started, Task: "T1", Attempt: 1, Try: 1, Max: 3, Runner: "claude", Title: "One", At: at},
		{Kind: decide.Started, Task: "T2", Attempt: 2, Try: 2, Max: 3, Runner: "codex", Title: "Two", At: at.Add(time.Minute)},
		{Kind: decide.Started, Task: "T3", Attempt: 1, Try: 1, Max: 3, Runner: "claude", Title: "Three", At: at},
		{Kind: decide.Used, Task: "T1", Usage: paid(0.25)},
		{Kind: decide.Used, Task: "T1", Usage: paid(0.75)},
		{Kind: decide.Used, Task: "T2", Usage: attempts.Usage{InputTokens: 45_000, CachedTokens: 5000}},
		{Kind: decide.Used, Task: "T3", Usage: paid(0.5)},
		{Kind: decide.Completed, Task: "T3", Usage: paid(2)},
	} {
		p.take(u)
	}
	p.counts = counts
	p.forecast = &status.Forecast{P50: at.Add(2 * time.Hour), BasedOn: 12}
	now := at.Add(10 * time.Minute)
	want := `[####................] 12 of 60 completed, 2 in progress, 45 pending, 1 gated
  10m00s, 3.75 USD of 50.00, about 1h50m left, done ~05:00
  T1 1/3 claude, 10m00s, 0.75 USD: One
  T2 2/3 codex, 9m00s, 40k tokens: Two`
	if got := strings.Join(p.view(now, 100, 24), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := p.view(now, 65, 24)[0], "[#.......] 12 of 60 completed, 2 in progress, 45 pending, 1 gated"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.take(decide.Update{Kind: decide.Used, Task: "T1", Usage: attempts.Usage{InputTokens: 1, CostUSD: 1, Estimated: true}})
	if got, want := p.view(now, 100, 24)[2], "  T1 1/3 claude, 10m00s, ~1.00 USD: One"; got != want {
		t.Errorf("got %q, want %q", got, want)
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
	p.take(decide.Update{Kind: decide.UpdateRun, At: now, Usage: paid(4), MaxTokens: 1_000_000}) // after a reload
	if got, want := p.view(now, 80, 24)[1], "  10m00s, 4.00 USD, about 1h50m left, done ~05:00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCostAndCap(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.Local)
	for _, c := range []struct {
		run  decide.Update
		want string
	}{
		{decide.Update{MaxUSD: 50}, "1m00s"},
		{decide.Update{MaxTokens: 2_000_000, Usage: attempts.Usage{InputTokens: 40_000}}, "1m00s, 40k tokens of 2.0M"},
		{decide.Update{MaxUSD: 50, Usage: attempts.Usage{InputTokens: 40_000}}, "1m00s, 40k tokens"}, // nobody knows what that costs
		{decide.Update{Usage: attempts.Usage{CostUSD: 0.5, Estimated: true}}, "1m00s, ~0.50 USD"},
	} {
		var p panel
		c.run.Kind, c.run.At = decide.UpdateRun, at
		p.take(c.run)
		if got := p.soFar(at.Add(time.Minute)); got != c.want {
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

// An estimate is asked for when something has changed, and now and then, and never waited for.
func TestEstimator(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	asked, answer := make(chan bool), make(chan *status.Forecast)
	e := estimator{changed: true, estimate: func() *status.Forecast {
		asked <- true
		return <-answer
	}}
	if _, isNew := e.poll(at); isNew {
		t.Error("there is an estimate before one was asked for")
	}
	<-asked
	if _, isNew := e.poll(at.Add(time.Hour)); isNew || e.last != at {
		t.Error("the next one is asked for before the last has come")
	}
	want := &status.Forecast{BasedOn: 7}
	answer <- want
	var got *status.Forecast
	for isNew := false; !isNew; {
		got, isNew = e.poll(at.Add(time.Second))
	}
	if got != want {
		t.Errorf("got %+v", got)
	}
	e.changed = true
	if e.poll(at.Add(estimateSoon - 1)); e.result != nil {
		t.Error("it is asked for again at once")
	}
	if e.poll(at.Add(estimateSoon)); e.result == nil || e.changed {
		t.Error("it is not asked for although a task has ended")
	}
	<-asked
	answer <- nil
	for isNew := false; !isNew; {
		got, isNew = e.poll(at.Add(estimateSoon + 1))
	}
	if got != nil || e.result != nil {
		t.Errorf("got %+v, and another is asked for", got)
	}
	if e.poll(at.Add(estimateSoon + estimateLate)); e.result == nil {
		t.Error("it is not asked for a minute later")
	}
	<-asked
	answer <- nil
	var none estimator
	if none.poll(at); none.result != nil {
		t.Error("there is somebody to ask")
	}
}

package runview

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/decide"
)

// stuck is a terminal that takes nothing until it is let go.
type stuck struct {
	free  chan struct{}
	mu    sync.Mutex
	shown []string
}

func (s *stuck) show(u decide.Update) { s.say(updateText(u)) }
func (s *stuck) flush()               {}
func (s *stuck) tick()                {}
func (s *stuck) close()               {}

func (s *stuck) expect(func() *status.Forecast) {}
func (s *stuck) say(text string) {
	<-s.free
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, text)
}

// A terminal that stands still must not hold up the run that tells it things.
func TestWatcherNeverBlocks(t *testing.T) {
	t.Parallel()
	d := &stuck{free: make(chan struct{})}
	w := watching(d)
	for i := range 3 * maxQueue {
		w.Say(fmt.Sprint(i))
	}
	close(d.free)
	w.Close()
	<-w.done
	d.mu.Lock()
	defer d.mu.Unlock()
	text := strings.Join(d.shown, "\n")
	if len(d.shown) < maxQueue || !strings.Contains(text, "messages not shown: the terminal was too slow") && w.dropped == 0 {
		t.Errorf("%d messages shown, %d dropped without a word", len(d.shown), w.dropped)
	}
}

func TestPanelNeverWidensAndForgetsWhatEnded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var p panel
	for i := range 12 {
		p.take(decide.Update{
			Kind: decide.Started, Task: fmt.Sprintf("T%d", i), Title: strings.Repeat("長い ", 50), Attempt: 1, Try: 1, Max: 3, Runner: "claude", At: at,
			Counts: decide.Counts{Total: 20, InProgress: i + 1, Pending: 19 - i},
		})
	}
	p.take(decide.Update{Kind: decide.Activity, Task: "T1", Text: "Bash \x1b[2J go test"})
	p.take(decide.Update{Kind: decide.Verified, Task: "T2"})
	p.take(decide.Update{Kind: decide.Completed, Task: "T0"})
	rows := p.view(at.Add(90*time.Second), 40, 24)
	if got, want := len(rows), 1+maxRunning+1; got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	if got, want := rows[1], `  T1 1/3 claude, 1m30s: Bash \u001b[2J …`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.view(at.Add(90*time.Second), 80, 24)[2], "  T2 1/3 claude, 1m30s: proved, waits to land"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, row := range rows {
		if terminal.Pad(row, 40) != row+strings.Repeat(" ", 40-displaywidth.String(row)) {
			t.Errorf("%q is wider than 40 columns", row)
		}
	}
}

func TestLiveErasesWhatItDrew(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	l := &live{w: &out, now: func() time.Time { return at }}
	l.show(decide.Update{Kind: decide.Started, Task: "T1", Title: "One", Attempt: 1, Try: 1, Max: 3, Runner: "claude", At: at, Counts: decide.Counts{Total: 1, InProgress: 1}})
	l.show(decide.Update{Kind: decide.Completed, Task: "T1", At: at, Text: "done", Counts: decide.Counts{Total: 1, Completed: 1}})
	l.close()
	want := "03:04:05 T1 attempt 1/3 started (claude): One\n" +
		"[....................] 0 of 1 completed, 1 in progress\n  T1 1/3 claude, 0.0s: One\n" +
		"\x1b[2A\r\x1b[J03:04:05 T1 completed in 0.0s, 1 of 1 done: done\n" +
		"[####################] 1 of 1 completed\n" +
		"\x1b[1A\r\x1b[J"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestUpdateText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for _, test := range []struct {
		u    decide.Update
		want string
	}{
		{decide.Update{Kind: decide.UpdateWaiting, At: at, Until: at, Runner: "claude", Text: "its usage limit"}, "waiting until 03:04:05 for claude: its usage limit (relay work --ask-now does not wait)"},
		{decide.Update{Kind: decide.UpdateWaiting, At: at.AddDate(0, 0, -3), Until: at, Runner: "claude"}, "waiting until Fri 2026-01-02 03:04:05 for claude (relay work --ask-now does not wait)"},
		{decide.Update{Kind: decide.Note, Task: "T1", Text: "something"}, "note: T1 something"},
		{decide.Update{Kind: decide.Note, Text: "something"}, "note: something"},
		{decide.Update{Kind: decide.Stopping}, "stopping"},
		{decide.Update{Kind: decide.Activity, Text: "go test"}, ""},
	} {
		if got := updateText(test.u); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	var p panel
	p.take(decide.Update{Kind: decide.UpdateWaiting, At: at, Until: at, Runner: "claude"})
	if rows := p.view(at, 80, 24); rows[1] != "  waiting until 03:04:05 for claude" {
		t.Errorf("the panel says %q", rows[1])
	}
}

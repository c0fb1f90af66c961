package runview

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"relay/orchestrator/decide"
	"relay/orchestrator/view"
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

func (s *stuck) follow(func() *view.Night) {}
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
}

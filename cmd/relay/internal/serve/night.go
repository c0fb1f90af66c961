package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/page"
	"relay/orchestrator/view"
)

// site is the night of an epic as browsers see it.
type site struct {
	o       Options
	project *project.Project
	mux     *http.ServeMux
	values  func(string) string // takes out the values of secrets
	clean   func(string) string // and what looks like one

	base, port          string // path of all pages, with a slash at its end
	token, cookie, form string // secrets: of the first address, of the cookie, and of forms

	mu    sync.Mutex
	night *status.Follower
	once  string // token for one use; "": there is none
	ahead *view.Forecast
	began time.Time // of ahead

	shown    atomic.Pointer[shown]
	viewers  atomic.Int64
	patience time.Duration // with a viewer that does not read
}

// shown is a state of the night that is shown. It never changes.
type shown struct {
	at    stamp
	night *view.Night
	runs  []view.OneRun
	parts map[string]part // by name: those of the page of the night, and "task/ID"
	made  time.Time
	notes []string      // about the records
	newer chan struct{} // is closed when a newer state is shown
}

// part is markup, and the state in which it changed last.
type part struct {
	html []byte // nil: its page has it
	at   stamp
}

// stamp names a state: by the last event of the log, and a number among those that differ by time alone.
type stamp struct{ event, again uint64 }

func (a stamp) after(b stamp) bool {
	return a.event > b.event || a.event == b.event && a.again > b.again
}

func (a stamp) String() string { return fmt.Sprintf("%d.%d", a.event, a.again) }

func stampOf(text string) (a stamp) {
	_, _ = fmt.Sscanf(text, "%d.%d", &a.event, &a.again) // of another text everything is new
	return a
}

const (
	every      = time.Second      // the log is read
	share      = 25               // of the time that is spent on it, at most
	mostQuiet  = time.Minute      // a page without events is this old at most: some of it depends on the time
	mostPicked = 500              // tasks, up to which the page of the night has the pictures
	aheadAge   = 30 * time.Second // of a forecast
)

// follow keeps what is shown up to date until ctx is done.
func (s *site) follow(ctx context.Context) {
	for wait := every; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		s.refresh(ctx)
		wait = max(every, share*time.Since(began))
	}
}

// refresh takes in what has happened since.
func (s *site) refresh(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.shown.Load()
	tasks, changed, err := s.night.Next(ctx)
	switch {
	case err != nil:
		s.show(nil, "the records cannot be read just now: "+terminal.Message(err))
	case changed || time.Since(now.made) > mostQuiet:
		s.show(tasks)
	}
}

// show makes the next state that is shown. The mutex is held.
func (s *site) show(tasks []string, troubles ...string) {
	now, f, before := s.o.App.Now(), s.night, s.shown.Load()
	n := f.Night(now)
	if n.Run.State == view.On && (s.ahead == nil || now.Sub(s.began) > aheadAge) {
		s.ahead, s.began = f.Forecast(now), now
	}
	n.Forecast = s.ahead
	next := &shown{
		at: stamp{event: f.Last}, night: n, runs: f.Runs[:len(f.Runs):len(f.Runs)], parts: map[string]part{}, made: time.Now(),
		notes: append(f.Warnings[:len(f.Warnings):len(f.Warnings)], troubles...), newer: make(chan struct{}),
	}
	if before != nil {
		next.parts = maps.Clone(before.parts)
		if before.at.event == f.Last {
			next.at.again = before.at.again + 1
		}
	}
	for _, task := range tasks {
		next.parts["task/"+task] = part{at: next.at}
	}
	o := s.options(next, "")
	for _, name := range page.Parts() {
		of := *n
		if name == "pictures" {
			s.addPictures(&of, now)
		}
		var text bytes.Buffer
		if err := page.Part(&text, &of, name, o); err != nil {
			panic(err) // the templates are in the program
		}
		html := []byte(s.values(text.String()))
		if old := next.parts[name]; !bytes.Equal(html, old.html) {
			next.parts[name] = part{html, next.at}
		}
	}
	s.shown.Store(next)
	if before != nil {
		close(before.newer)
	}
}

// addPictures adds graph and timeline to a night of a size for which its page has them.
func (s *site) addPictures(n *view.Night, now time.Time) {
	if n.Counts.Total() <= mostPicked {
		n.Graph, n.Timeline = s.night.Graph(now), s.night.Timeline(now)
	}
}

// onceToken returns a token for one use.
func (s *site) onceToken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once = rand.Text()
	return s.once
}

var errUnknown = errors.New("there is no such page")

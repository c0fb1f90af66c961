package serve

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/page"
	"relay/orchestrator/view"
)

// live is the night of an epic, which goes on.
type live struct {
	now     func() time.Time
	values  func(string) string           // takes out secrets
	options func(now *shown) page.Options // of the page of the night

	mu    sync.Mutex
	night *status.Follower

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
	every      = time.Second // the log is read
	share      = 25          // of the time that is spent on it, at most
	mostQuiet  = time.Minute // a page without events is this old at most: some of it depends on the time
	mostPicked = 500         // tasks, up to which the page of the night has the pictures
)

// follow keeps what is shown up to date until ctx is done.
func (l *live) follow(ctx context.Context) {
	for wait := every; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		l.refresh(ctx)
		wait = max(every, share*time.Since(began))
	}
}

// refresh takes in what has happened since.
func (l *live) refresh(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.shown.Load()
	tasks, changed, err := l.night.Next(ctx)
	switch {
	case err != nil:
		l.show(nil, "the records cannot be read just now: "+terminal.Message(err))
	case changed || now.night.Run.State == view.On && time.Since(now.made) > mostQuiet:
		l.show(tasks)
	}
}

// show makes the next state that is shown. The mutex is held.
func (l *live) show(tasks []string, troubles ...string) {
	now, f, before := l.now(), l.night, l.shown.Load()
	n := f.Make(now)
	next := &shown{
		at: stamp{event: f.Last}, night: n, runs: slices.Clip(f.Runs), parts: map[string]part{}, made: time.Now(),
		notes: append(slices.Clip(f.Warnings), troubles...), newer: make(chan struct{}),
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
	o := l.options(next)
	for _, name := range page.Parts() {
		of := *n
		if name == "pictures" {
			l.addPictures(&of, now)
		}
		var text bytes.Buffer
		if err := page.Part(&text, &of, name, o); err != nil {
			panic(err) // the templates are in the program
		}
		html := []byte(l.values(text.String()))
		if old := next.parts[name]; !bytes.Equal(html, old.html) {
			next.parts[name] = part{html, next.at}
		}
	}
	l.shown.Store(next)
	if before != nil {
		close(before.newer)
	}
}

// addPictures adds graph and timeline to a night of a size for which its page has them.
func (l *live) addPictures(n *view.Night, now time.Time) {
	if n.Counts.Total() <= mostPicked {
		n.Graph, n.Timeline = l.night.Model.Graph(now), l.night.Model.Timeline(now)
	}
}

// pictures returns graph and timeline as they are now.
func (l *live) pictures() (*view.Graph, *view.Timeline) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.night.Model.Graph(l.now()), l.night.Model.Timeline(l.now())
}

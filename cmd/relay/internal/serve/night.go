package serve

import (
	"bytes"
	"context"
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
	at    uint64 // names the state: the number of the last event, or more where the time alone has changed it
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
	at   uint64
}

const (
	every      = time.Second     // the log is read
	share      = 150             // of the time that is spent on it, at most
	longest    = 5 * time.Second // between two times that the log is read: a busy machine makes reading slow
	mostQuiet  = time.Minute     // a page without events is this old at most: some of it depends on the time
	mostPicked = 500             // tasks, up to which the page of the night has the pictures
)

// follow keeps what is shown up to date until ctx is done. It begins when the first page is likely to have been read.
func (l *live) follow(ctx context.Context) {
	for wait := every; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		l.refresh(ctx)
		wait = min(max(every, share*time.Since(began)), longest)
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
	if n.Counts.Total() <= mostPicked {
		n.Graph, n.Timeline = f.Model.Graph(now), f.Model.Timeline(now)
	}
	next := &shown{
		at: f.Last, night: n, runs: slices.Clone(f.Model.Journal().Runs()), parts: map[string]part{}, made: time.Now(),
		notes: append(slices.Clip(f.Warnings), troubles...), newer: make(chan struct{}),
	}
	if before != nil {
		next.at, next.parts = max(f.Last, before.at+1), maps.Clone(before.parts)
	}
	for _, task := range tasks {
		next.parts["task/"+task] = part{at: next.at}
	}
	for name, html := range page.Parts(n, l.options(next)) {
		html = []byte(l.values(string(html)))
		if !bytes.Equal(html, next.parts[name].html) {
			next.parts[name] = part{html, next.at}
		}
	}
	n.Graph, n.Timeline = nil, nil
	l.shown.Store(next)
	if before != nil {
		close(before.newer)
	}
}

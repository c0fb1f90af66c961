package runview

import (
	"fmt"
	"sync"
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/view"
)

// display shows what happens during a run. Its methods are called from one goroutine.
type display interface {
	show(u decide.Update)
	say(text string)
	follow(model func() *view.Night)
	flush() // nothing more is known for the moment
	tick()  // time has passed
	close()
}

// Watcher passes what happens during a run to a display. It never waits for the display, whose terminal may stand still (Ctrl-S, a
// stopped pager): it drops what the display does not take in time, and shows how many messages it dropped.
type Watcher struct {
	display display
	queue   chan func(display)
	leaving chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	closed  bool
	dropped int
}

const (
	maxQueue  = 1024
	closeWait = 2 * time.Second
)

// NewWatcher returns a watcher that shows a run on stderr: live on a terminal, line by line elsewhere. Close must be called.
func NewWatcher(a *cli.App) *Watcher {
	var d display = &lines{w: a.Err}
	if terminal.IsTerminal(a.Err.Dest) && a.Lookup("TERM") != "dumb" {
		d = &live{w: a.Err.Dest, now: a.Now, panel: newPanel(a.Err.Palette)}
	}
	return watching(d)
}

func watching(d display) *Watcher {
	w := &Watcher{display: d, queue: make(chan func(display), maxQueue), leaving: make(chan struct{}), done: make(chan struct{})}
	go w.serve()
	return w
}

const (
	drawEvery   = 250 * time.Millisecond // how often what has no line of its own is shown
	batchWindow = 20 * time.Millisecond  // after something was shown: people read no faster, and each piece wakes its reader
)

func (w *Watcher) serve() {
	defer close(w.done)
	defer w.display.close()
	clock := time.NewTicker(drawEvery)
	defer clock.Stop()
	pause := time.NewTimer(batchWindow)
	defer pause.Stop()
	for {
		select {
		case item, open := <-w.queue:
			if !open {
				return
			}
			w.pass(item)
			for range len(w.queue) { // only here anything is taken out
				w.pass(<-w.queue)
			}
			w.display.flush()
			pause.Reset(batchWindow)
			select {
			case <-pause.C:
			case <-w.leaving:
			}
		case <-clock.C:
			w.display.tick()
		}
	}
}

// pass hands one item to the display, after telling what had to be dropped before it.
func (w *Watcher) pass(item func(display)) {
	w.mu.Lock()
	dropped := w.dropped
	w.dropped = 0
	w.mu.Unlock()
	if dropped > 0 {
		w.display.say(fmt.Sprintf("%s not shown: the terminal was too slow", plaintext.Count(dropped, "message")))
	}
	item(w.display)
}

// Update shows a change of state.
func (w *Watcher) Update(u decide.Update) { w.put(func(d display) { d.show(u) }) }

// Say shows a message of relay itself.
func (w *Watcher) Say(text string) { w.put(func(d display) { d.say(text) }) }

// Follow has the night shown as the model returns it, which is called in a goroutine of its own, one call at a time.
func (w *Watcher) Follow(model func() *view.Night) {
	w.put(func(d display) { d.follow(model) })
}

func (w *Watcher) put(item func(display)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	select {
	case w.queue <- item:
	default:
		w.dropped++
	}
}

// Close waits until everything is shown, for at most closeWait.
func (w *Watcher) Close() {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	close(w.leaving)
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(closeWait):
	}
}

// Package notify tells receivers outside of relay what happens in a run: programs, addresses and the desktop.
//
// A receiver never delays the run. Each has a goroutine of its own and one waiting notification for each kind of event, into which more
// events of that kind are folded; it gets a kind at most once a minute. When the run ends, what still waits is delivered, for a limited
// time. Secrets are redacted, and addresses and arguments of receivers are not in messages.
//
// events.go makes notifications of the updates that a watcher of the run gets. deliver.go delivers it.
package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/secrets"
)

// Receiver is one that gets notifications. It has one of Argv, URL and Desktop.
type Receiver struct {
	Name     string
	On       []string // events; "ended" stands for every end of a run
	Argv     []string // of a program that reads the notification from stdin
	URL      string   // gets it as a POST
	Desktop  bool
	Template string // see [plaintext.Notification.Render]
}

// Host has what this package may not do itself.
type Host struct {
	// Run gives a program input, and returns what it printed. It ends the program when ctx ends.
	Run    func(ctx context.Context, argv []string, input []byte) (printed string, err error)
	Redact *secrets.Redactor
	Failed func(text string) // tells a person of a notification that was not delivered
	Now    func() time.Time
	Pause  time.Duration // before the first retry; the second comes after four times as much
	Flush  time.Duration // for all receivers, at the end of a run
}

const (
	tryWait = 10 * time.Second // for a receiver that does not answer
	retries = 2
)

// Notifier delivers notifications. A nil one drops them.
type Notifier struct {
	host      Host
	receivers []*worker
	cancel    context.CancelCauseFunc
	working   sync.WaitGroup
}

// New returns a notifier for receivers, or nil if there are none. Close must be called; the end of ctx ends nothing.
func New(ctx context.Context, host Host, receivers []Receiver) *Notifier {
	if len(receivers) == 0 {
		return nil
	}
	n := &Notifier{host: host}
	ctx, n.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	for _, r := range receivers {
		w := &worker{Receiver: r, host: &n.host, wake: make(chan struct{}, 1), folded: folder{last: map[string]time.Time{}}}
		n.receivers = append(n.receivers, w)
		n.working.Go(func() { w.serve(ctx) })
	}
	return n
}

// Notify passes an event to the receivers that want it. It never waits for one.
func (n *Notifier) Notify(e plaintext.Notification) {
	if n == nil {
		return
	}
	for _, w := range n.receivers {
		if slices.Contains(w.On, e.Event) || isEnd(e.Event) && slices.Contains(w.On, ended) {
			w.change(func() { w.folded.add(e) })
		}
	}
}

// Close delivers what waits, for a limited time.
func (n *Notifier) Close() {
	if n == nil {
		return
	}
	for _, w := range n.receivers {
		w.change(func() { w.closing = true })
	}
	late := time.AfterFunc(n.host.Flush, func() { n.cancel(errOver) })
	n.working.Wait()
	late.Stop()
	n.cancel(nil)
}

// worker delivers to one receiver.
type worker struct {
	Receiver

	host *Host
	wake chan struct{}

	mu      sync.Mutex
	folded  folder
	closing bool
}

// change changes what the worker shares, and wakes it.
func (w *worker) change(do func()) {
	w.mu.Lock()
	do()
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default: // it is awake
	}
}

// serve delivers what is due until the notifier is closed and nothing waits.
func (w *worker) serve(ctx context.Context) {
	for {
		w.mu.Lock()
		e, due, wait := w.folded.next(w.host.Now(), w.closing)
		closing := w.closing
		w.mu.Unlock()
		switch {
		case due:
			w.deliver(ctx, e)
		case closing:
			return
		default:
			rest(ctx, wait, w.wake)
		}
	}
}

// deliver delivers a notification, and tries again after a fault that may pass.
func (w *worker) deliver(ctx context.Context, e plaintext.Notification) {
	err := w.Send(ctx, w.host, e)
	for try := range retries {
		if err == nil || errors.As(err, new(finalError)) || ctx.Err() != nil {
			break
		}
		rest(ctx, w.host.Pause<<(2*try), nil)
		err = w.Send(ctx, w.host, e)
	}
	if err != nil {
		w.host.Failed(fmt.Sprintf("notification %s of %s was not delivered: %s", w.Name, e.Event, err))
	}
}

// rest waits for some time, or until wake or the end of ctx.
func rest(ctx context.Context, wait time.Duration, wake <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	case <-wake:
	}
}

// Bounds of what a receiver gets.
const (
	every       = time.Minute // the shortest time between two notifications of a kind
	mostEarlier = 10          // texts of folded events
)

// folder holds what waits for a receiver: one notification of a kind.
type folder struct {
	waiting []plaintext.Notification // by when the first event of each came
	last    map[string]time.Time     // when the last of a kind was taken out
}

// add takes an event in. It replaces a waiting one of its kind, and has its text.
func (f *folder) add(e plaintext.Notification) {
	for i, before := range f.waiting {
		if before.Event == e.Event {
			e.Folded = before.Folded + 1
			e.Earlier = append(before.Earlier, before.Text)
			e.Earlier = e.Earlier[max(0, len(e.Earlier)-mostEarlier):]
			f.waiting[i] = e
			return
		}
	}
	f.waiting = append(f.waiting, e)
}

// next takes out the first notification that is due, at once everything that waits; else it returns when to look again.
func (f *folder) next(now time.Time, everything bool) (e plaintext.Notification, due bool, wait time.Duration) {
	wait = time.Hour
	for i, e := range f.waiting {
		left := every - now.Sub(f.last[e.Event])
		if everything || left <= 0 || left > every { // the clock was set back
			f.waiting = append(f.waiting[:i], f.waiting[i+1:]...)
			f.last[e.Event] = now
			return e, true, 0
		}
		wait = min(wait, left)
	}
	return e, false, wait
}

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
	Failed func(text string) // tells a person of a notification that was not delivered; called once at a time
	Now    func() time.Time
	Pause  time.Duration // before the first retry; the second comes after four times as much
	Flush  time.Duration // for all receivers, at the end of a run
}

const (
	tryWait  = 10 * time.Second // for a receiver that does not answer
	retries  = 2
	maxQueue = 1024 // events that wait to be folded, while one is delivered
)

// Notifier delivers notifications.
type Notifier struct {
	host      Host
	receivers []*worker
	over      chan struct{} // closed at the end of the run
	cancel    context.CancelCauseFunc
	working   sync.WaitGroup
	failing   sync.Mutex // held while a fault is reported
}

// worker delivers to one receiver.
type worker struct {
	Receiver

	queue  chan plaintext.Notification
	folded folder
}

// New returns a notifier for receivers. Close must be called; the end of ctx ends nothing.
func New(ctx context.Context, host Host, receivers []Receiver) *Notifier {
	n := &Notifier{host: host, over: make(chan struct{})}
	ctx, n.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	for _, r := range receivers {
		if slices.Contains(r.On, "ended") {
			r.On = append(slices.Clone(r.On), "budget", "deadline", "stopped")
		}
		w := &worker{Receiver: r, queue: make(chan plaintext.Notification, maxQueue), folded: folder{last: map[string]time.Time{}}}
		n.receivers = append(n.receivers, w)
		n.working.Go(func() { n.serve(ctx, w) })
	}
	return n
}

// Notify passes an event to the receivers that want it. It never waits for one: a receiver whose queue is full lacks the event.
func (n *Notifier) Notify(e plaintext.Notification) {
	for _, w := range n.receivers {
		if slices.Contains(w.On, e.Event) {
			select {
			case w.queue <- e:
			default:
			}
		}
	}
}

// Close delivers what waits, for a limited time.
func (n *Notifier) Close() {
	close(n.over)
	late := time.AfterFunc(n.host.Flush, func() { n.cancel(errOver) })
	n.working.Wait()
	late.Stop()
	n.cancel(nil)
}

// serve delivers what is due until the run is over and nothing waits.
func (n *Notifier) serve(ctx context.Context, w *worker) {
	wait := time.Hour
	for over := false; !over; {
		select {
		case e := <-w.queue:
			w.folded.add(e)
		case <-time.After(wait):
		case <-n.over:
			over = true
		}
		for range len(w.queue) { // only here anything is taken out
			w.folded.add(<-w.queue)
		}
		for due := true; due; {
			var e plaintext.Notification
			if e, due, wait = w.folded.next(n.host.Now(), over); due {
				n.deliver(ctx, w, e)
			}
		}
	}
}

// deliver delivers a notification, and tries again if it fails.
func (n *Notifier) deliver(ctx context.Context, w *worker, e plaintext.Notification) {
	err := w.Send(ctx, &n.host, e)
	for try := 0; try < retries && err != nil && ctx.Err() == nil; try++ {
		select {
		case <-ctx.Done():
		case <-time.After(n.host.Pause << (2 * try)):
		}
		err = w.Send(ctx, &n.host, e)
	}
	if err != nil {
		n.failing.Lock()
		defer n.failing.Unlock()
		n.host.Failed(fmt.Sprintf("%s did not get the notification %s: %s", w.Name, e.Event, err))
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

// next takes out the first notification that is due, at once with everything; else it returns when to look again.
func (f *folder) next(now time.Time, everything bool) (e plaintext.Notification, due bool, wait time.Duration) {
	wait = time.Hour
	for i, e := range f.waiting {
		left := every - now.Sub(f.last[e.Event])
		if everything || left <= 0 || left > every { // the clock was set back
			f.waiting = slices.Delete(f.waiting, i, i+1)
			f.last[e.Event] = now
			return e, true, 0
		}
		wait = min(wait, left)
	}
	return e, false, wait
}

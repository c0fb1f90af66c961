// Package notify tells receivers outside of relay what happens in a run: programs, addresses and the desktop.
//
// A receiver never delays the run. Each has a goroutine of its own and one waiting notification for each kind of event, into which more
// events of that kind are folded; it gets a kind at most once a minute. When the run ends, what still waits is delivered, for a limited
// time. Secrets are redacted, and addresses and arguments of receivers are not in messages.
//
// events.go makes notifications of the updates that a watcher of the run gets. fold.go decides which one is due. deliver.go delivers it.
package notify

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/secrets"
)

// Receiver is one that gets notifications. It has one of Argv, URL and Desktop.
type Receiver struct {
	Name     string
	On       []string // events; Ended stands for every end of a run
	Argv     []string // of a program that reads the notification from stdin
	URL      string   // gets it as a POST
	Desktop  bool
	Template string // see [plaintext.Notification.Render]
}

// wants reports whether the receiver gets an event.
func (r *Receiver) wants(event string) bool {
	return slices.Contains(r.On, event) || isEnd(event) && slices.Contains(r.On, Ended)
}

// Host has what this package may not do itself.
type Host struct {
	// Run gives a program input, and returns the end of what it printed. It ends the program when ctx ends.
	Run    func(ctx context.Context, argv []string, input []byte) (printed string, err error)
	Redact *secrets.Redactor
	Failed func(text string) // tells a person of a notification that was not delivered
	Now    func() time.Time
}

// Limits of a delivery.
const (
	tryWait   = 10 * time.Second // for a receiver that does not answer
	flushWait = 12 * time.Second // for all receivers, at the end of a run
	retries   = 2
)

// Notifier delivers notifications. A nil one drops them.
type Notifier struct {
	host      Host
	receivers []*worker
	cancel    context.CancelCauseFunc
	working   sync.WaitGroup
	pause     time.Duration // before the first retry; the second comes after four times as much
	flush     time.Duration
}

// New returns a notifier for receivers, or nil if there are none. Close must be called; the end of ctx ends nothing.
func New(ctx context.Context, host Host, receivers []Receiver) *Notifier {
	if len(receivers) == 0 {
		return nil
	}
	return start(ctx, &Notifier{host: host, pause: time.Second, flush: flushWait}, receivers)
}

func start(ctx context.Context, n *Notifier, receivers []Receiver) *Notifier {
	ctx, n.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	for _, r := range receivers {
		w := &worker{Receiver: r, host: &n.host, pause: n.pause, wake: make(chan struct{}, 1), folded: folder{last: map[string]time.Time{}}}
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
	e.Version = 1
	for _, w := range n.receivers {
		if w.wants(e.Event) {
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
	late := time.AfterFunc(n.flush, func() { n.cancel(errOver) })
	n.working.Wait()
	late.Stop()
	n.cancel(nil)
}

// worker delivers to one receiver.
type worker struct {
	Receiver

	host  *Host
	pause time.Duration
	wake  chan struct{}

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
			if err := w.deliver(ctx, e); err != nil {
				w.host.Failed(fmt.Sprintf("notification %s of %s was not delivered: %s", w.Name, e.Event, err))
			}
			continue
		case closing:
			return
		}
		if !rest(ctx, wait, w.wake) {
			return
		}
	}
}

// deliver delivers a notification, and tries again after a fault that may pass.
func (w *worker) deliver(ctx context.Context, e plaintext.Notification) error {
	for try := 0; ; try++ {
		err := w.Send(ctx, *w.host, e)
		if err == nil || err.final || try == retries || !rest(ctx, w.pause<<(2*try), nil) {
			return err.orNil()
		}
	}
}

// rest waits for some time, or until wake; it returns false if ctx has ended.
func rest(ctx context.Context, wait time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-wake:
	}
	return true
}

// hide removes what a receiver's messages must not show from a text: the parts of its address and its arguments.
func (r *Receiver) hide(text string) string {
	host := ""
	if at, err := url.Parse(r.URL); err == nil {
		host = at.Host
	}
	private := strings.FieldsFunc(strings.Join(append(r.Argv[min(1, len(r.Argv)):], r.URL), " "), func(c rune) bool { return strings.ContainsRune(" /?&=:@", c) })
	slices.SortFunc(private, func(a, b string) int { return len(b) - len(a) })
	for _, p := range private {
		if len(p) >= shortestPrivate && !strings.Contains(host, p) {
			text = strings.ReplaceAll(text, p, "…")
		}
	}
	return text
}

// shortestPrivate is the length from which a part of an address or an argument may be a key: shorter ones are common words.
const shortestPrivate = 8

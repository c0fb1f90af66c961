package notify

import (
	"time"

	"relay/epic/plaintext"
)

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

package recordkeeper

import (
	"sync"
	"time"

	"relay/attempts"
)

// Keeper keeps the records of a run up to date while it goes on.
type Keeper struct {
	follower *follower
	history  uint64 // number of the last event before the run's

	mu      sync.Mutex
	queue   []attempts.Event
	closing bool
	wake    chan struct{}
	done    chan struct{}
}

// pause is for how long the keeper gathers events before it writes their records.
const pause = 500 * time.Millisecond

// New returns a keeper that writes nothing before it is started. Without records to keep it returns nil, whose methods do nothing.
func New(o Options) *Keeper {
	if !o.enabled() {
		return nil
	}
	return &Keeper{follower: newFollower(&o), wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// Start begins to keep records: first those of the events up to history, which are in the log, then those of the events that
// [Keeper.Add] has been given and is given from now on.
func (k *Keeper) Start(history uint64) {
	if k == nil {
		return
	}
	k.history = history
	k.follower.forget(history)
	go k.run()
}

// Add gives the keeper events that are on the disk. It never waits.
func (k *Keeper) Add(events []attempts.Event) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.queue = append(k.queue, events...)
	k.mu.Unlock()
	k.rouse()
}

func (k *Keeper) rouse() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// closeWait is how long Close waits.
const closeWait = 10 * time.Second

// Close waits until the records of all events are written. What it does not come to in ten seconds is told, and made up for by the next
// run.
func (k *Keeper) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.closing = true
	k.mu.Unlock()
	k.rouse()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-k.done:
	case <-timer.C:
		k.follower.o.Warn("the records in .ledgersync and thoughts are not complete yet: the next relay work goes on with them, or relay ledger rebuild")
	}
}

// run takes in history, and then what comes.
func (k *Keeper) run() {
	defer close(k.done)
	f := k.follower
	defer f.close()
	if k.history > 0 {
		if err := f.replay(k.history); err != nil {
			f.o.Warn("the records of earlier runs cannot be brought up to date: " + err.Error())
			return
		}
	}
	for {
		<-k.wake
		if !k.over() {
			k.gather()
		}
		events, over := k.next()
		f.take(events)
		if over {
			k.finish()
			return
		}
	}
}

// gather waits for more events, or for the end.
func (k *Keeper) gather() {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-k.wake:
			if k.over() {
				return
			}
		}
	}
}

func (k *Keeper) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closing
}

func (k *Keeper) next() (events []attempts.Event, over bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	events, k.queue = k.queue, nil
	return events, k.closing
}

// finish puts back what others have changed of the records of this run, and keeps what is written.
func (k *Keeper) finish() {
	f := k.follower
	if f.o.Discussions {
		f.talk.flush(f.seq)
	}
	if !f.ledger.intact() {
		k.putBack()
	}
	if err := f.save(); err != nil {
		f.o.Warn(err.Error())
	}
}

// putBack writes the entries anew that somebody has changed or removed.
func (k *Keeper) putBack() {
	f := k.follower
	o := *f.o
	o.Artifacts, o.Discussions = false, false
	counts, err := Rebuild(Rebuilding{Options: o})
	if err != nil {
		f.o.Warn("entries of relay in the ledger of LedgerSync were changed, and cannot be put back: " + err.Error())
		return
	}
	f.o.Warn(counts.LedgerSync.changedWords())
	f.ledger.cursor.Offset = readCursor(f.o.Dir).LedgerSync.Offset
}

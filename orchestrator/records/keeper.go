package records

import (
	"sync"
	"time"

	"relay/attempts"
)

// Keeper keeps the records of a run up to date while it goes on.
type Keeper struct {
	follower *follower
	history  uint64 // number of the last event before the run's

	mu    sync.Mutex
	queue []attempts.Event
	end   chan struct{}
	done  chan struct{}
}

// NewKeeper returns a keeper that writes nothing before it is started. Without records to keep it returns nil, whose methods do nothing.
func NewKeeper(o KeeperOptions) *Keeper {
	if !o.enabled() {
		return nil
	}
	return &Keeper{follower: newFollower(&o), end: make(chan struct{}), done: make(chan struct{})}
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
	defer k.mu.Unlock()
	k.queue = append(k.queue, events...)
}

// Close waits until the records of all events are written. After ten seconds it warns and leaves the rest to the next run.
func (k *Keeper) Close() {
	if k == nil {
		return
	}
	const closeWait = 10 * time.Second
	close(k.end)
	select {
	case <-k.done:
	case <-time.After(closeWait):
		k.follower.o.Warn("the records in .ledgersync and thoughts are not complete yet: the next relay work goes on with them, or relay ledger rebuild")
	}
}

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
	const pause = 500 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-k.end:
			over = true
		}
		k.mu.Lock()
		events := k.queue
		k.queue = nil
		k.mu.Unlock()
		f.take(events)
	}
	f.talk.waits = false // the end has come
	f.take(nil)
	if err := f.save(); err != nil {
		f.o.Warn(err.Error())
	}
}

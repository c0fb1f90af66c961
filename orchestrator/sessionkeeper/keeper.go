package sessionkeeper

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"relay/attempts"
	"relay/attempts/sessions"
	"relay/epic/each"
)

// Keeper writes each attempt of a run into the agents ledger as it ends, and never keeps the run waiting.
type Keeper struct {
	o    Options
	stop context.CancelFunc

	mu    sync.Mutex
	queue []attemptFacts // owned by whoever has taken it out
	end   chan struct{}
	done  chan struct{}

	// Only the goroutine uses the following fields.
	known attemptList
	ended []*attemptFacts // attempts that are not in the ledger yet, those of earlier runs first
	w     writer
}

// look is how often the keeper writes attempts that have ended: many that end soon after each other are written at once.
const look = 800 * time.Millisecond

// New returns a keeper that does nothing before it is started. Without a ledger to keep it returns nil, whose methods do nothing.
func New(o Options) *Keeper {
	if !o.Enabled {
		return nil
	}
	return &Keeper{o: o, end: make(chan struct{}), done: make(chan struct{})}
}

// Start begins to keep the ledger: of the attempts in the log that an earlier run has left, and of those that [Keeper.Add] has been and
// will be given.
func (k *Keeper) Start(ctx context.Context) {
	if k == nil {
		return
	}
	ctx, k.stop = context.WithCancel(context.WithoutCancel(ctx)) // Close ends it
	go k.run(ctx)
}

// Add tells the keeper events that are on the disk. It never waits, and keeps nothing of them but texts.
func (k *Keeper) Add(events []attempts.Event) {
	if k == nil {
		return
	}
	facts := each.Where(events, func(e attempts.Event) (attemptFacts, bool) { return factOf(&e) })
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queue = append(k.queue, facts...)
}

// run keeps the ledger until the run is over, or warns once if it cannot.
func (k *Keeper) run(ctx context.Context) {
	defer close(k.done)
	if err := k.keep(ctx); err != nil && ctx.Err() == nil {
		k.o.Warn("the agents ledger is not kept in this run: " + err.Error() + "; relay sessions import makes up for it")
	}
	<-k.end
}

// waitForOthers waits for the next look while another program has the ledger locked. Once the run is over, one more is the last.
func (k *Keeper) waitForOthers() (again bool) {
	select {
	case <-k.end:
		return false
	default:
	}
	select {
	case <-time.After(look):
	case <-k.end:
	}
	return true
}

func (k *Keeper) keep(ctx context.Context) (err error) {
	k.w = writer{ctx: ctx, wait: k.waitForOthers}
	var db *sessions.DB
	err = k.w.retry(func() (err error) {
		db, err = sessions.Open(ctx, k.o.Dir, sessions.Options{Epic: k.o.EpicID, Now: time.Now})
		return err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, path := range db.PutAside() {
		k.o.Warn("the agents ledger was damaged: relay begins a new one, and the old one is " + filepath.Base(path) + "; relay sessions import fills it")
	}
	k.w.db = db
	if k.ended, err = k.left(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-k.end:
			over = true
		}
		if err := k.settle(over); err != nil {
			return err
		}
	}
	return nil
}

// settle writes the attempts that have ended, and forgets them: a night has many.
func (k *Keeper) settle(over bool) error {
	if k.take(); over {
		k.ended = append(k.ended, reviews(k.o.Dir, k.o.Run)...)
	}
	for _, f := range k.ended {
		if err := k.w.settle(newAttempt(&k.o, f)); err != nil {
			return err
		}
		delete(k.known.byID, attemptID{f.task, f.number})
	}
	k.ended = nil
	return k.w.db.Commit()
}

// left returns the attempts of earlier runs that are not in the ledger, and takes in what is known of all.
func (k *Keeper) left(ctx context.Context) ([]*attemptFacts, error) {
	all, err := k.o.attempts()
	if err != nil {
		return nil, err
	}
	k.known = all
	var left []*attemptFacts
	for _, f := range all.withReviews(k.o.Dir) {
		if f.ended && f.run != k.o.Run {
			_, done, err := k.w.db.Mark(ctx, f.name())
			if err != nil {
				return nil, err
			}
			if !done {
				left = append(left, f)
			}
		}
	}
	return left, nil
}

// take takes in what has happened since it was last called.
func (k *Keeper) take() {
	k.mu.Lock()
	facts := k.queue
	k.queue = nil
	k.mu.Unlock()
	for _, f := range facts {
		if a := k.known.apply(f); a != nil && f.ended {
			k.ended = append(k.ended, a)
		}
		k.known.order = nil // it was read when the run began
	}
}

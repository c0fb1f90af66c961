package attempts

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic"
)

// Options say which epic's memory to open.
type Options struct {
	Dir   string // the relay folder
	Epic  *epic.Epic
	Graph *epic.Graph
	// Run is the id of a new run, see [NewRunID]. Empty: events go to the newest run's log, as those of a command
	// such as gate do.
	Run string
	// Fresh, if not nil, are the settings of the ledger that Open makes where there is none yet, see [Create].
	Fresh *Settings
	Now   func() time.Time // the clock; required
	// Fault is called at every point that a crash can cut, see [FaultPoints]; an error is taken for the disk's. Nil in earnest.
	Fault func(point string) error
	// Durable hears of every event once it is on the disk, in order. It must return at once, and keep nothing it is not given. May be nil.
	Durable func([]Event)
	// Warn receives warnings that need no action. May be nil.
	Warn func(string)
}

// FaultPoints lists the points at which [Options].Fault is called.
func FaultPoints() []string { return durable.Points() }

// Store is an epic's memory, open for writing: at most one at a time. Its methods may be called by many goroutines.
type Store struct {
	opts Options
	run  string
	me   Holder

	// disk orders what is done to whole files: snapshots, restoring, closing. Lock order: disk, folding, that of the journal.
	disk      sync.Mutex
	fsys      durable.FS
	lock      *durable.Lock
	ledger    durable.Stamp // of attempt-ledger.yml as last left by us
	ledgerSum string
	older     []*durable.Copy // logs of earlier runs
	tampered  []string        // what Append had to restore, until Restore tells
	cost      time.Duration   // of the last snapshot
	ended     time.Time       // when the last snapshot was done
	saved     uint64          // events in the last snapshot

	folding sync.RWMutex
	fold    *fold
	dirty   uint64  // last event that changed the ledger
	folded  []Event // of them those that Durable has not heard of; empty without it

	journal journal

	wake, quit, done chan struct{}
	closed           sync.Once
	closing          error
}

// journal writes the event log of one run.
type journal struct {
	opts *Options
	run  string

	mu    sync.Mutex
	log   *durable.Log
	copy  *durable.Copy // of the log
	seq   uint64
	queue []Event // written, not yet folded
	buf   []byte
	err   error // the first failure; nothing is written after it
}

// Open takes the epic's lock, reads everything, cuts what a crash left at the log's end and makes the run's folder.
//
// Errors to branch on: [*HeldError], [*EditedError], [*DamageError], [*VersionError], [*EpicError], and [ErrNoLedger]
// without Fresh.
func Open(o Options) (*Store, error) {
	if o.Run != "" && !runPattern.MatchString(o.Run) {
		return nil, fmt.Errorf("%q is not a run id", o.Run)
	}
	disk, err := durable.OpenDisk(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNoLedger, o.Dir)
	}
	if err != nil {
		return nil, err
	}
	return open(o, disk, refuseEdit)
}

// Seq returns the number of the last event that is written.
func (s *Store) Seq() uint64 {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.seq
}

// Run returns the id of the run whose log is written.
func (s *Store) Run() string { return s.run }

// View calls f with the ledger as it is now. f must neither change nor keep it, nor call other methods of the store.
func (s *Store) View(f func(*Ledger)) {
	s.folding.RLock()
	defer s.folding.RUnlock()
	f(s.fold.ledger)
}

// Task returns a copy of one task's record. Its slices of strings are shared and must not be changed.
func (s *Store) Task(id string) TaskRecord {
	s.folding.RLock()
	defer s.folding.RUnlock()
	return s.fold.ledger.Tasks[id].clone()
}

// Counts reports how many tasks of the epic are in each state. It takes the same time however many tasks there are.
func (s *Store) Counts() map[Status]int {
	s.folding.RLock()
	defer s.folding.RUnlock()
	return maps.Clone(s.fold.tasks.counts)
}

// Learned returns the places in the plan, ascending, of the last tasks whose agents have told a learning: most of them at most.
// It takes the same time however many tasks there are.
func (s *Store) Learned(most int) []int {
	s.folding.RLock()
	defer s.folding.RUnlock()
	return s.fold.tasks.lastLearned(most)
}

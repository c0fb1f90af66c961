package attempts

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
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
	Now func() time.Time
	// Fault is called at every point that a crash can cut, see [FaultPoints]; an error is taken for the disk's. Nil in earnest.
	Fault func(point string) error
	// Warn hears what a person should know and nobody has to act on. May be nil.
	Warn func(string)
}

// FaultPoints lists the points at which [Options].Fault is called.
func FaultPoints() []string { return durable.Points() }

// Store is an epic's memory, open for writing: at most one at a time. Its methods may be called by many goroutines.
type Store struct {
	opts Options
	run  string
	me   Holder

	// disk orders what is done to whole files: snapshots, restoring, closing. Lock order: disk, folding, writing.
	disk      sync.Mutex
	fsys      durable.FS
	lock      *durable.Lock
	ledger    durable.Stamp // of attempt-ledger.yml as last left by us
	ledgerSum string
	older     []*kept       // logs of earlier runs
	tampered  []string      // what Append had to restore, until Restore tells
	cost      time.Duration // of the last snapshot
	ended     time.Time     // when the last snapshot was done
	saved     uint64        // events in the last snapshot

	folding sync.RWMutex
	fold    *fold
	dirty   uint64 // last event that changed the ledger

	writing sync.Mutex
	log     *durable.Log
	copy    *kept // of the log
	seq     uint64
	queue   []Event // written, not yet folded
	buf     []byte
	err     error // the first failure; nothing is written after it

	wake, quit, done chan struct{}
	closed           sync.Once
	closing          error
}

// Open takes the epic's lock, reads everything, cuts what a crash left at the log's end and makes the run's folder.
//
// Errors to branch on: [*HeldError], [*EditedError], [*DamageError], [*VersionError], [*EpicError], [ErrNoLedger].
func Open(o Options) (*Store, error) {
	if o.Run != "" && !runPattern.MatchString(o.Run) {
		return nil, fmt.Errorf("%q is no run id", o.Run)
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

// policy decides what becomes of a foreign edit and of damage before the store is opened on what was read.
type policy func(*Store, *contents) error

func refuseEdit(_ *Store, c *contents) error {
	if len(c.faults) > 0 {
		return &DamageError{Faults: c.faults}
	}
	if c.edit != nil {
		return c.edit
	}
	return nil
}

func takeEdit(_ *Store, c *contents) error {
	if len(c.faults) > 0 {
		return &DamageError{Faults: c.faults}
	}
	if c.edit != nil && c.unreadable != nil {
		return fmt.Errorf("%s: %w", LedgerFile, c.unreadable)
	}
	return nil
}

// open goes on with any file system.
func open(o Options, fsys durable.FS, decide policy) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s := &Store{
		opts: o, run: o.Run, fsys: fsys,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if err := s.start(decide); err != nil {
		s.release()
		return nil, err
	}
	go s.snapshots()
	return s, nil
}

// release gives back what a failed start has taken.
func (s *Store) release() {
	if s.log != nil {
		s.log.Close()
	}
	if s.lock != nil {
		s.lock.Release()
	}
	s.fsys.Close()
}

func (s *Store) start(decide policy) error {
	s.me = holder(s.opts.Epic.ID, s.opts.Now())
	var err error
	if s.lock, err = durable.Acquire(s.fsys, LockFile, s.me); err != nil {
		return err
	}
	if err := durable.Reserve(s.fsys, reserveFile); err != nil {
		return fmt.Errorf("reserve %d bytes in %s: %w", durable.ReserveSize, s.opts.Dir, err)
	}
	if err := s.sweep(); err != nil {
		return err
	}
	c, err := s.load()
	if err != nil {
		return err
	}
	for _, note := range c.notes {
		s.opts.Warn(note)
	}
	if err := decide(s, c); err != nil {
		return err
	}
	if err := s.begin(c); err != nil {
		return err
	}
	if c.edit != nil && len(c.base) == 0 {
		return s.Append(Event{Type: TypeAccepted, Accepted: c.accepted()})
	}
	return nil
}

// sweep removes what replacements that were cut off have left.
func (s *Store) sweep() error {
	if err := durable.RemoveTemps(s.fsys, "."); err != nil {
		return err
	}
	runs, err := runNames(s.fsys)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := durable.RemoveTemps(s.fsys, path.Join(RunsDir, run)); err != nil {
			return err
		}
	}
	return nil
}

// load reads everything and keeps a copy of each log.
func (s *Store) load() (*contents, error) {
	copies := map[*logFile]*kept{}
	c, err := load(s.fsys, s.opts.Epic, s.opts.Graph, func(l *logFile, p []byte) {
		if copies[l] == nil {
			copies[l] = newKept(l.name())
		}
		copies[l].add(p)
	})
	if err != nil {
		return nil, err
	}
	for _, l := range c.logs {
		if k := copies[l]; k != nil {
			s.older = append(s.older, k)
		}
	}
	return c, nil
}

// begin opens the run's log behind everything that was read.
func (s *Store) begin(c *contents) error {
	s.fold, s.seq = c.fold, c.next-1
	for _, l := range c.torn {
		if err := s.cut(l); err != nil {
			return err
		}
	}
	if err := s.chooseRun(c); err != nil {
		return err
	}
	if err := durable.MkdirAll(s.fsys, path.Join(RunsDir, s.run)); err != nil {
		return err
	}
	var err error
	if s.log, err = durable.OpenLog(s.fsys, EventsPath(s.run), s.opts.Fault); err != nil {
		return err
	}
	s.log.Start(s.seq)
	if err := s.keepLogs(); err != nil {
		return err
	}
	s.ledger, s.ledgerSum = c.stamp, c.sum
	s.dirty, s.saved = c.dirty, c.saved
	if len(c.base) > 0 {
		return s.Append(c.base...)
	}
	return nil
}

// chooseRun decides whose log is written. Sequence numbers only grow, so it can be the newest or a new one.
func (s *Store) chooseRun(c *contents) error {
	newest := ""
	for _, l := range c.logs {
		newest = l.run
		if l.run == s.run && l.first > 0 && (l != c.logs[len(c.logs)-1] || len(c.base) > 0) {
			return fmt.Errorf("run %s is over", s.run)
		}
	}
	if s.run == "" && len(c.base) == 0 {
		s.run = newest
	}
	if s.run == "" {
		s.run = s.newRun()
	}
	return nil
}

// keepLogs sorts the copies made while reading into the current log's and the older ones.
func (s *Store) keepLogs() error {
	older := s.older
	s.older = nil
	for _, k := range older {
		if k.name == EventsPath(s.run) {
			s.copy = k
			continue
		}
		if err := k.settle(s.fsys); err != nil {
			return err
		}
		s.older = append(s.older, k)
	}
	if s.copy == nil {
		s.copy = newKept(EventsPath(s.run))
	}
	return nil
}

// Run is the id of the run whose log is written.
func (s *Store) Run() string { return s.run }

// View calls f with the ledger as it is now. f must neither change nor keep it, nor call other methods of the store.
func (s *Store) View(f func(*Ledger)) {
	s.folding.RLock()
	defer s.folding.RUnlock()
	f(s.fold.ledger)
}

// Task is a copy of one task's record. Its slices of strings are shared and must not be changed.
func (s *Store) Task(id string) TaskRecord {
	s.folding.RLock()
	defer s.folding.RUnlock()
	rec := s.fold.ledger.Tasks[id]
	if rec == nil {
		return TaskRecord{}
	}
	return rec.clone()
}

func (rec *TaskRecord) clone() TaskRecord {
	out := *rec
	out.Attempts = append([]Attempt(nil), rec.Attempts...)
	for i := range out.Attempts {
		if u := out.Attempts[i].Usage; u != nil {
			usage := *u
			out.Attempts[i].Usage = &usage
		}
	}
	if rec.Gate != nil {
		gate := *rec.Gate
		out.Gate = &gate
	}
	return out
}

// Counts says how many tasks of the epic are in each state. It takes the same time however many tasks there are.
func (s *Store) Counts() map[Status]int {
	s.folding.RLock()
	defer s.folding.RUnlock()
	out := make(map[Status]int, len(s.fold.counts))
	for status, n := range s.fold.counts {
		out[status] = n
	}
	return out
}

package attempts

import (
	"errors"
	"fmt"
	"maps"
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
	// Run is the id of a new run, see [NewRunID]. Empty: events go to the newest run's log, as those of a command such as gate do.
	Run string
	// Fresh, if not nil, are the settings of the ledger that Open makes where there is none yet, see [Create].
	Fresh *Settings
	Now   func() time.Time // the clock; required
	// Fault is called at every point that a crash can cut, see [FaultPoints]; an error is taken for the disk's. Nil in earnest.
	Fault func(point string) error
	// Durable hears of every event once it is on the disk, in order. It must return at once, and keep nothing it is not given. May be nil.
	Durable func([]Event)
	Relay   string       // version, for viewers of the same one: see [See]. Empty: they read all events
	Plan    []byte       // content of [SeenPlan], for viewers of the same version; nil: none
	Warn    func(string) // receives warnings that need no action; may be nil
	Head    string       // file outside of Dir with the last link of the logs: it shows when somebody else changed them. "": none
	Accept  bool         // a person takes the events as they are, whatever proves them
}

// FaultPoints lists the points at which [Options].Fault is called.
func FaultPoints() []string { return durable.Points() }

// Store is an epic's memory, open for writing: at most one at a time. Its methods may be called by many goroutines.
type Store struct {
	opts Options

	// disk orders what is done to whole files: snapshots, restoring, closing. Lock order: disk, that of now, that of the journal.
	disk     sync.Mutex
	fsys     durable.FS
	lock     *durable.Lock
	ledger   snapshot        // as last left by us
	older    []*durable.Copy // logs of earlier runs
	tampered []string        // what Append had to restore, until Restore tells
	cost     time.Duration   // of the last snapshot
	ended    time.Time       // when the last snapshot was done
	seen     snapshot        // seenFile as last left by us; upTo is the next event then
	plan     snapshot        // SeenPlan

	journal journal
	now     current

	wake, quit, done chan struct{}
	closed           sync.Once
	closing          error
}

// Open takes the epic's lock, reads everything, cuts what a crash left at the log's end and makes the run's folder.
//
// Errors to branch on: [*HeldError], [*EditedError], [*DamageError], [*VersionError], [*EpicError], and [ErrNoLedger] without Fresh.
func Open(o Options) (*Store, error) {
	if o.Run != "" && !runPattern.MatchString(o.Run) {
		return nil, fmt.Errorf("%q is not a run id", o.Run)
	}
	disk, err := openFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	return open(o, disk, refuseEdit)
}

func (s *Store) start(decide policy) (err error) {
	if s.lock, err = durable.Acquire(s.fsys, LockFile, Self(s.opts.Epic.ID, s.opts.Now())); err != nil {
		return err
	}
	if err := durable.Reserve(s.fsys, reserveFile); err != nil {
		return fmt.Errorf("reserve %d bytes in %s: %w", durable.ReserveSize, s.opts.Dir, err)
	}
	if err := removeTemps(s.fsys); err != nil {
		return err
	}
	c, err := load(s.fsys, s.opts, true)
	if errors.Is(err, ErrNoLedger) && s.opts.Fresh != nil {
		c, err = createFresh(s.fsys, &s.opts)
	}
	if err != nil {
		return err
	}
	for _, note := range append(c.log.notes, c.log.tornNotes()...) {
		s.opts.Warn(note)
	}
	if err := decide(c); err != nil {
		return err
	}
	if c.foreign != nil {
		if err := keepForeign(s.fsys, &s.opts, *c.foreign); err != nil {
			return err
		}
	}
	if err := s.begin(c); err != nil {
		return err
	}
	if c.edit != nil && len(c.base) == 0 {
		return s.Append(Event{Type: TypeAccepted, Accepted: &Accepted{Tasks: c.taken}})
	}
	return nil
}

// begin opens the run's log behind everything that was read.
func (s *Store) begin(c *contents) (err error) {
	s.journal.opts, s.journal.seq = &s.opts, c.log.next-1
	for _, l := range c.log.torn {
		if l.copy, err = durable.Cut(s.fsys, l.name(), l.tail); err != nil {
			return err
		}
	}
	if s.journal.run, err = chooseRun(&s.opts, c); err != nil {
		return err
	}
	if err := durable.MkdirAll(s.fsys, path.Join(RunsDir, s.journal.run)); err != nil {
		return err
	}
	if s.journal.log, err = durable.OpenLog(s.fsys, EventsPath(s.journal.run), s.opts.Fault); err != nil {
		return err
	}
	s.journal.log.Start(s.journal.seq)
	s.now.fold, s.now.tell = c.log.fold, s.opts.Durable
	if s.journal.copy, s.older, err = keepLogs(s.fsys, s.journal.run, c); err != nil {
		return err
	}
	s.ledger, s.journal.links = c.file, c.log.links
	if s.opts.Relay != "" {
		s.seen, _ = readSnapshot(s.fsys, seenFile) // none, or one that is written again soon
	}
	if len(s.opts.Plan) > 0 {
		s.plan = show(s.fsys, SeenPlan, s.opts.Plan)
	}
	c.log.links.Begin(c.log.next, s.opts.Warn)
	if len(c.base) > 0 {
		return s.Append(c.base...)
	}
	return nil
}

// release closes the files and the lock that a failed Open has taken.
func (s *Store) release() {
	if s.journal.log != nil {
		s.journal.log.Close()
	}
	if s.lock != nil {
		s.lock.Release()
	}
	s.fsys.Close()
}

// Append makes events durable, in this order, and folds them in. Callers that come together share one sync.
// After a failed write or sync every call returns that error: nothing more may be started then.
func (s *Store) Append(events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	if err := s.append(events); err != nil {
		return err
	}
	if s.journal.log.Displaced() { // acknowledged means: on the disk, under its name
		s.disk.Lock()
		defer s.disk.Unlock()
		names, err := s.restore(false)
		s.tampered = append(s.tampered, names...)
		return err
	}
	return nil
}

func (s *Store) append(events []Event) error {
	last, err := s.journal.write(events)
	if err != nil {
		return err
	}
	if err := s.journal.log.Wait(last); err != nil {
		return s.journal.fail(err)
	}
	s.foldIn(last)
	return nil
}

// AppendLater writes events and folds them in, and leaves the sync to the next Append, or to the snapshot that follows
// when the run is idle. Nothing may be done on account of them before one of these: a power cut can still take them.
// It is for the end of an attempt, after which nothing happens but the next start.
func (s *Store) AppendLater(events ...Event) error {
	last, err := s.journal.write(events)
	if err != nil {
		return err
	}
	s.foldIn(last)
	return nil
}

// foldIn folds events up to last in, and has the snapshots know of it.
func (s *Store) foldIn(last uint64) {
	s.now.take(&s.journal, last)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Seq returns the number of the last event that is written.
func (s *Store) Seq() uint64 {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.seq
}

// Unproved reports whether a person accepted events that the head did not prove, or that had none, and no call of Prove followed.
func (s *Store) Unproved() bool { return s.journal.links.Head.Since > 0 && !s.journal.links.Head.Held }

// Prove notes that all checks have passed on what the events say.
func (s *Store) Prove() { s.journal.keepHead(true, true) }

// Run returns the id of the run whose log is written.
func (s *Store) Run() string { return s.journal.run }

// View calls f with the ledger as it is now. f must neither change nor keep it, nor call other methods of the store.
func (s *Store) View(f func(*Ledger)) { s.now.view(func(now *fold) { f(now.ledger) }) }

// Task returns a copy of one task's record. Its slices of strings are shared and must not be changed.
func (s *Store) Task(id string) (rec TaskRecord) {
	s.now.view(func(now *fold) { rec = now.ledger.Tasks[id].clone() })
	return rec
}

// Counts reports how many tasks of the epic are in each state. It takes the same time however many tasks there are.
func (s *Store) Counts() (counts map[Status]int) {
	s.now.view(func(now *fold) { counts = maps.Clone(now.tasks.counts) })
	return counts
}

// Learned returns the places in the plan, ascending, of the last tasks whose agents have told a learning: most of them at most.
// It takes the same time however many tasks there are.
func (s *Store) Learned(most int) (tasks []int) {
	s.now.view(func(now *fold) { tasks = now.tasks.lastLearned(most) })
	return tasks
}

// current is the ledger as it is now: the fold of what a journal has written. Its methods may be called by many goroutines.
type current struct {
	mu   sync.RWMutex
	fold *fold
	tell func([]Event) // as Options.Durable
	late []Event       // folded, and not told: they are not durable yet
}

// take folds what is durable by now, and everything up to last, in order, whoever wrote it.
func (c *current) take(j *journal, last uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ready := j.take(max(last, j.log.Synced()))
	for i := range ready {
		c.fold.apply(&ready[i])
	}
	if c.tell == nil {
		return
	}
	c.late = append(c.late, ready...)
	if n := upToSeq(c.late, j.log.Synced()); n > 0 {
		c.tell(c.late[:n:n])
		c.late = append([]Event(nil), c.late[n:]...)
	}
}

// view calls f with the ledger while nothing is folded in.
func (c *current) view(f func(*fold)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f(c.fold)
}

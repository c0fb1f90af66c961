package attempts

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path"

	"relay/attempts/internal/durable"
)

// policy decides what becomes of a foreign edit and of damage before the store is opened on what was read.
type policy func(*Store, *contents) error

func refuseEdit(s *Store, c *contents) error {
	if err := takeEdit(s, c); err != nil || c.edit == nil {
		return err
	}
	return c.edit
}

func takeEdit(_ *Store, c *contents) error {
	if len(c.faults) > 0 {
		return &DamageError{Faults: c.faults}
	}
	if c.edit != nil && c.edit.Unreadable != nil {
		return c.edit
	}
	return nil
}

// open opens the store on a given file system.
func open(o Options, fsys durable.FS, decide policy) (*Store, error) {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s := &Store{
		opts: o, fsys: fsys,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if err := s.start(decide); err != nil {
		s.release()
		return nil, err
	}
	go s.snapshots()
	return s, nil
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

func (s *Store) start(decide policy) error {
	s.me = Self(s.opts.Epic.ID, s.opts.Now())
	var err error
	if s.lock, err = durable.Acquire(s.fsys, LockFile, s.me); err != nil {
		return err
	}
	if err := durable.Reserve(s.fsys, reserveFile); err != nil {
		return fmt.Errorf("reserve %d bytes in %s: %w", durable.ReserveSize, s.opts.Dir, err)
	}
	if err := removeTemps(s.fsys); err != nil {
		return err
	}
	c, err := load(s.fsys, s.opts.Epic, s.opts.Graph, true)
	if errors.Is(err, ErrNoLedger) && s.opts.Fresh != nil {
		c, err = createFresh(s.fsys, &s.opts)
	}
	if err != nil {
		return err
	}
	for _, note := range append(c.notes, c.tornNotes()...) {
		s.opts.Warn(note)
	}
	if err := decide(s, c); err != nil {
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

// removeTemps removes what replacements that were cut off have left.
func removeTemps(fsys durable.FS) error {
	if err := durable.RemoveTemps(fsys, "."); err != nil {
		return err
	}
	runs, err := runNames(fsys)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := durable.RemoveTemps(fsys, path.Join(RunsDir, run)); err != nil {
			return err
		}
	}
	return nil
}

// begin opens the run's log behind everything that was read.
func (s *Store) begin(c *contents) error {
	s.fold, s.journal.seq = c.fold, c.next-1
	for _, l := range c.torn {
		if err := cut(s.fsys, l); err != nil {
			return err
		}
	}
	var err error
	if s.run, err = chooseRun(&s.opts, c); err != nil {
		return err
	}
	s.journal.opts, s.journal.run = &s.opts, s.run
	if err := durable.MkdirAll(s.fsys, path.Join(RunsDir, s.run)); err != nil {
		return err
	}
	if s.journal.log, err = durable.OpenLog(s.fsys, EventsPath(s.run), s.opts.Fault); err != nil {
		return err
	}
	s.journal.log.Start(s.journal.seq)
	if s.journal.copy, s.older, err = keepLogs(s.fsys, s.run, c); err != nil {
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
func chooseRun(o *Options, c *contents) (run string, err error) {
	newest := ""
	for _, l := range c.logs {
		newest = l.run
		if l.run == o.Run && l.first > 0 && (l != c.logs[len(c.logs)-1] || len(c.base) > 0) {
			return "", fmt.Errorf("run %s is over", o.Run)
		}
	}
	if run = o.Run; run == "" && len(c.base) == 0 {
		run = newest
	}
	if run == "" {
		run = NewRunID(o.Now(), rand.Reader) // for events that no run of relay work made
	}
	return run, nil
}

// keepLogs takes the copies of the logs: the current one's and those of older ones.
func keepLogs(fsys durable.FS, run string, c *contents) (current *durable.Copy, older []*durable.Copy, err error) {
	current = durable.NewCopy(EventsPath(run))
	for _, l := range c.logs {
		switch {
		case l.copy == nil:
		case l.run == run:
			current = l.copy
		default:
			if err := l.copy.Finish(fsys); err != nil {
				return nil, nil, err
			}
			older = append(older, l.copy)
		}
	}
	return current, older, nil
}

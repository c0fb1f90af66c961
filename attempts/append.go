package attempts

import (
	"errors"
	"io/fs"
	"time"

	"relay/attempts/internal/durable"
)

// Append makes events durable, in this order, and folds them in. Callers that come together share one sync.
// After a failed write or sync every call returns that error: nothing more may be started then.
func (s *Store) Append(events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	if err := s.append(events); err != nil {
		return err
	}
	if s.log.Displaced() { // acknowledged means: on the disk, under its name
		s.disk.Lock()
		defer s.disk.Unlock()
		names, err := s.restore()
		s.tampered = append(s.tampered, names...)
		return err
	}
	return nil
}

func (s *Store) append(events []Event) error {
	last, err := s.write(events)
	if err != nil {
		return err
	}
	if err := s.log.Wait(last); err != nil {
		return s.fail(err)
	}
	s.foldIn(last)
	return nil
}

// AppendLater writes events and folds them in, and leaves the sync to the next Append, or to the snapshot that follows
// when the run is idle. Nothing may be done on account of them before one of these: a power cut can still take them.
// It is for the end of an attempt, after which nothing happens but the next start.
func (s *Store) AppendLater(events ...Event) error {
	last, err := s.write(events)
	if err != nil {
		return err
	}
	s.foldIn(last)
	return nil
}

// write numbers the events and writes their lines.
func (s *Store) write(events []Event) (last uint64, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	s.buf = s.buf[:0]
	back := make([]Event, len(events))
	synced := s.log.Synced()
	seq := s.seq
	for i, e := range events {
		seq++
		s.stamp(&e, seq, synced)
		if s.buf, back[i], err = encode(s.buf, e); err != nil {
			return 0, err
		}
	}
	if err := s.log.Write(seq, s.buf); err != nil {
		return 0, s.failLocked(err)
	}
	_, _ = s.copy.Write(s.buf)
	if cap(s.buf) > bigEvent {
		s.buf = nil
	}
	s.seq = seq
	s.queue = append(s.queue, back...)
	return seq, nil
}

func (s *Store) stamp(e *Event, seq, synced uint64) {
	e.Seq, e.Run = seq, s.run
	e.At = s.opts.Now().UTC().Truncate(time.Millisecond)
	e.Synced = 0
	if synced != seq-1 {
		e.Synced = synced
	}
	if e.RunStarted != nil {
		rs := *e.RunStarted
		rs.Version = LogVersion
		if rs.EpicID == "" {
			rs.EpicID = s.opts.Epic.ID
		}
		e.RunStarted = &rs
	}
}

// foldIn folds what is durable by now, and everything up to last, in order, whoever wrote it.
func (s *Store) foldIn(last uint64) {
	s.folding.Lock()
	defer s.folding.Unlock()
	upTo := max(last, s.log.Synced())
	s.writing.Lock()
	n := 0
	for n < len(s.queue) && s.queue[n].Seq <= upTo {
		n++
	}
	ready := s.queue[:n:n]
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.queue = nil
	}
	s.writing.Unlock()
	for i := range ready {
		s.fold.apply(&ready[i])
		if ready[i].Written == nil {
			s.dirty = ready[i].Seq
		}
	}
	s.tellDurable(ready)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// tellDurable passes on what is on the disk by now. The caller holds folding.
func (s *Store) tellDurable(ready []Event) {
	if s.opts.Durable == nil {
		return
	}
	s.folded = append(s.folded, ready...)
	synced := s.log.Synced()
	n := 0
	for n < len(s.folded) && s.folded[n].Seq <= synced {
		n++
	}
	if n > 0 {
		s.opts.Durable(s.folded[:n:n])
		s.folded = append([]Event(nil), s.folded[n:]...)
	}
}

// failed returns the first failure there was.
func (s *Store) failed() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.err
}

func (s *Store) fail(err error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.failLocked(err)
}

// failLocked ends all writing. On a full disk the reserve is given up for a last word on why.
func (s *Store) failLocked(err error) error {
	if s.err != nil {
		return s.err
	}
	if errors.Is(err, fs.ErrClosed) {
		return err
	}
	s.err = err
	s.log.Fail(err)
	if durable.Full(err) {
		if werr := s.lastWords(); werr != nil {
			s.opts.Warn("the reserve could not be used: " + werr.Error())
		}
	}
	return s.err
}

func (s *Store) lastWords() error {
	var lines []byte
	var err error
	for i, e := range []Event{
		{Type: TypeNote, Note: &Note{Kind: "disk_full", Text: Clean(s.err.Error(), 500)}},
		{Type: TypeRunStopped, RunStopped: &RunStopped{ExitCode: 1, Reason: "error"}},
	} {
		s.stamp(&e, s.seq+1+uint64(i), s.log.Synced())
		if lines, _, err = encode(lines, e); err != nil {
			return err
		}
	}
	return s.log.LastWords(reserveFile, lines)
}

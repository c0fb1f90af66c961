package attempts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"relay/attempts/internal/durable"
)

// When snapshots are written: at most one part in dutyParts of the time, at once when nothing has happened for idleAfter.
const (
	dutyParts   = 20
	idleAfter   = 200 * time.Millisecond
	minInterval = 250 * time.Millisecond // also after the run was opened: its beginning is busy enough
)

// snapshots runs as a goroutine and rewrites attempt-ledger.yml as the log grows. Close waits for it.
func (s *Store) snapshots() {
	defer close(s.done)
	s.disk.Lock()
	s.ended = time.Now()
	s.disk.Unlock()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-s.wake:
			timer.Reset(s.wait())
		case <-timer.C:
			if s.save(false) != nil {
				return // every Append says so from now on
			}
		}
	}
}

// wait returns how long to wait for more events before the next snapshot.
func (s *Store) wait() time.Duration {
	s.disk.Lock()
	defer s.disk.Unlock()
	due := time.Until(s.ended.Add(max(minInterval, dutyParts*s.cost)))
	return min(max(due, 0), idleAfter)
}

// save writes a snapshot if there is anything new, or force is set.
func (s *Store) save(force bool) error {
	s.disk.Lock()
	defer s.disk.Unlock()
	return s.saveLocked(force)
}

func (s *Store) saveLocked(force bool) error {
	if err := s.failed(); err != nil {
		return err
	}
	s.folding.RLock()
	current := s.dirty <= s.saved
	s.folding.RUnlock()
	if current && !force {
		return nil
	}
	began := time.Now()
	if err := s.replaceLedger(s.recordLedgerEdit); errors.Is(err, fs.ErrNotExist) && !force {
		// An agent is removing relay's folder at this moment. Restore puts it back, and the next snapshot is a whole one.
		s.ended = time.Now()
		return nil
	} else if err != nil {
		return s.fail(fmt.Errorf("write %s: %w", LedgerFile, err))
	}
	s.ended = time.Now()
	s.cost = s.ended.Sub(began)
	return nil
}

// recordLedgerEdit records that somebody else has edited the ledger before a snapshot replaces it, so that Restore reports it.
func (s *Store) recordLedgerEdit() {
	if !s.ownLedger() {
		s.tampered = addName(s.tampered, LedgerFile)
	}
}

// replaceLedger puts a snapshot in place. Its checksum is in the log before its name is on the disk, so that a ledger
// with any other checksum is somebody else's. last is called in the last moment.
func (s *Store) replaceLedger(last func()) error {
	sum := sha256.New()
	var made durable.Stamp
	var upTo uint64
	var hash string
	err := durable.Replace(s.fsys, LedgerFile, s.opts.Fault, durable.Content{
		Write: func(w io.Writer) error {
			s.folding.RLock()
			defer s.folding.RUnlock()
			upTo = s.fold.ledger.Folded.Seq
			return s.fold.render(io.MultiWriter(w, sum))
		},
		Before: func() error {
			hash = hex.EncodeToString(sum.Sum(nil))
			info, err := s.fsys.Lstat(durable.TempName(LedgerFile))
			if err != nil {
				return err
			}
			made = durable.StampOf(info)
			defer last()
			return s.append([]Event{{Type: TypeWritten, Written: &Written{SHA256: hash, Size: made.Size, Seq: upTo}}})
		},
	})
	if err != nil {
		return err
	}
	info, err := s.fsys.Lstat(LedgerFile)
	if err != nil {
		return err
	}
	s.ledger, s.ledgerSum, s.saved = durable.StampOf(info), hash, upTo
	if !made.Renamed(s.ledger) { // somebody was quicker than this look
		s.ledger = durable.Stamp{}
	}
	return nil
}

// Flush brings attempt-ledger.yml up to date.
func (s *Store) Flush() error { return s.save(false) }

// Close writes the last snapshot and lets go of the lock. After a failure it returns that failure; the lock is free all the same.
func (s *Store) Close() error {
	s.closed.Do(func() {
		close(s.quit)
		<-s.done
		s.disk.Lock()
		defer s.disk.Unlock()
		s.closing = s.finish()
		s.release()
	})
	return s.closing
}

// finish makes sure that what is left behind is what was written, whatever agents have done to it.
func (s *Store) finish() error {
	if err := s.failed(); err != nil {
		return err
	}
	names, err := s.restoreDeep()
	if err != nil {
		return err
	}
	for _, name := range append(s.tampered, names...) {
		s.opts.Warn(name + " was changed by somebody else and has been restored")
	}
	return s.saveLocked(false)
}

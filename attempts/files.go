package attempts

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic/each"
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
			s.disk.Lock()
			due := time.Until(s.ended.Add(max(minInterval, dutyParts*s.cost)))
			s.disk.Unlock()
			timer.Reset(min(max(due, 0), idleAfter))
		case <-timer.C:
			if s.Flush() != nil {
				return // every Append says so from now on
			}
		}
	}
}

// Flush brings attempt-ledger.yml up to date.
func (s *Store) Flush() error {
	s.disk.Lock()
	defer s.disk.Unlock()
	return s.saveLocked()
}

// saveLocked writes a snapshot if there is anything new.
func (s *Store) saveLocked() error {
	if err := s.journal.failed(); err != nil {
		return err
	}
	current := false
	if s.now.view(func(now *fold) { current = now.ledger.Folded.Seq <= s.ledger.upTo }); current {
		return nil
	}
	began := time.Now()
	edited := func() { // by somebody else, before this snapshot replaces it: Restore reports it
		if !s.ledger.intact(s.fsys, LedgerFile) {
			s.tampered = each.Added(s.tampered, LedgerFile)
		}
	}
	if err := s.replaceLedger(edited); errors.Is(err, fs.ErrNotExist) {
		// An agent is removing relay's folder at this moment. Restore puts it back, and the next snapshot is a whole one.
		s.ended = time.Now()
		return nil
	} else if err != nil {
		return s.journal.fail(fmt.Errorf("write %s: %w", LedgerFile, err))
	}
	s.journal.keepHead(true, false)
	keepSeen(s)
	s.ended = time.Now()
	s.cost = s.ended.Sub(began)
	return nil
}

// replaceLedger puts a snapshot in place. Its checksum is in the log before its name is on the disk, so that a ledger
// with any other checksum is somebody else's. last is called in the last moment.
func (s *Store) replaceLedger(last func()) error {
	sum := sha256.New()
	var made snapshot
	err := durable.Replace(s.fsys, LedgerFile, s.opts.Fault, durable.Content{
		Write: func(w io.Writer) (err error) {
			s.now.view(func(now *fold) {
				made.upTo = now.ledger.Folded.Seq
				err = now.render(io.MultiWriter(w, sum))
			})
			return err
		},
		Before: func() error {
			made.sum = hex.EncodeToString(sum.Sum(nil))
			info, err := s.fsys.Lstat(durable.TempName(LedgerFile))
			if err != nil {
				return err
			}
			made.stamp = durable.StampOf(info)
			defer last()
			return s.append([]Event{{Type: TypeWritten, Written: &Written{SHA256: made.sum, Size: made.stamp.Size, Seq: made.upTo}}})
		},
	})
	if err != nil {
		return err
	}
	info, err := s.fsys.Lstat(LedgerFile)
	if err != nil {
		return err
	}
	there := durable.StampOf(info)
	if !made.stamp.Renamed(there) { // somebody was quicker than this look
		there = durable.Stamp{}
	}
	made.stamp = there
	s.ledger = made
	return nil
}

// snapshot identifies the contents of a file that relay wrote or read last.
type snapshot struct {
	stamp durable.Stamp
	sum   string // "": there was none
	upTo  uint64 // events in it; 0: it is to be written again
}

// intact reports whether the file that is there is this one.
func (n *snapshot) intact(fsys durable.FS, name string) bool {
	info, err := fsys.Lstat(name)
	if n.sum == "" { // there is none yet
		return name == LedgerFile || errors.Is(err, fs.ErrNotExist)
	}
	if err == nil && info.Mode().IsRegular() && durable.StampOf(info).Same(n.stamp) {
		return true
	}
	file, _ := readSnapshot(fsys, name)
	if file.sum == n.sum {
		n.stamp = file.stamp
	}
	return file.sum == n.sum
}

// readSnapshot returns stamp and hash of the file that is there.
func readSnapshot(fsys durable.FS, name string) (snapshot, error) {
	file, err := durable.OpenHashed(fsys, name, maxLedger+1)
	if err != nil || file == nil {
		return snapshot{}, cmp.Or(err, ErrNoLedger)
	}
	defer file.Close()
	return snapshot{stamp: file.Stamp, sum: file.Sum()}, nil
}

// Restore looks whether somebody else has changed, replaced or removed the store's own files, the whole folder included, puts them back
// from memory, and names those that had been changed, by their path below the relay folder. It reads nothing when nothing was touched, so
// it may be called after every attempt. The store can be used as before afterwards, unless it returns an error.
func (s *Store) Restore() (tampered []string, err error) {
	s.disk.Lock()
	defer s.disk.Unlock()
	names, err := s.restore(false)
	if err != nil {
		return nil, err
	}
	names = each.Added(names, s.tampered...) // found by Append meanwhile
	s.tampered = nil
	return names, nil
}

// restore does the work of Restore. With deep it also reads the log, because a change in the same instant as a write of relay's leaves no
// trace in its times. The caller holds the disk's lock.
func (s *Store) restore(deep bool) (names []string, err error) {
	if err := s.journal.failed(); err != nil {
		return nil, err
	}
	if names, err = s.restoreFiles(deep); err == nil && len(names) > 0 {
		err = durable.Reserve(s.fsys, reserveFile)
	}
	if err != nil {
		return nil, s.journal.fail(err)
	}
	return names, nil
}

// restoreFiles puts the files of a store back, one after the other.
func (s *Store) restoreFiles(deep bool) (names []string, err error) {
	if s.fsys.Moved() {
		next, err := s.fsys.Recreate()
		if err != nil {
			return nil, err
		}
		s.fsys.Close()
		s.fsys = next
	}
	put := func(name string, intact bool, write func() error) {
		if intact {
			return
		}
		names = append(names, name)
		ferr := durable.Clear(s.fsys, name)
		if ferr == nil {
			ferr = write()
		}
		err = cmp.Or(err, ferr)
	}
	put(LockFile, s.lock.Intact(s.fsys), func() error { return s.lock.Renew(s.fsys) })
	for _, k := range s.older {
		changed, ferr := k.PutBack(s.fsys)
		if changed {
			names = append(names, k.Name())
		}
		err = cmp.Or(err, ferr)
	}
	s.journal.mu.Lock()
	intact := s.journal.log.Intact(s.fsys)
	if deep || !intact {
		same := s.journal.copy.Same(s.fsys)
		if same && !intact { // it only looks different
			err = cmp.Or(err, s.journal.log.Reopen(s.fsys, nil))
		}
		intact = same
	}
	put(s.journal.copy.Name(), intact, func() error { return s.journal.log.Reopen(s.fsys, s.journal.copy.Emit) })
	s.journal.mu.Unlock()
	if err != nil {
		return nil, err
	}
	put(LedgerFile, s.ledger.intact(s.fsys, LedgerFile), func() error { return s.replaceLedger(func() {}) })
	put(seenFile, s.opts.Relay == "" || s.seen.intact(s.fsys, seenFile), func() error {
		_, s.seen = s.fsys.Remove(seenFile), snapshot{} // while the logs are short there is none
		keepSeen(s)
		return nil
	})
	put(SeenPlan, len(s.opts.Plan) == 0 || s.plan.intact(s.fsys, SeenPlan), func() error {
		s.plan = show(s.fsys, SeenPlan, s.opts.Plan)
		return nil
	})
	return names, err
}

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
	if err := s.journal.failed(); err != nil {
		return err
	}
	names, err := s.restore(true)
	if err != nil {
		return err
	}
	for _, name := range append(s.tampered, names...) {
		s.opts.Warn(name + " was changed by somebody else and has been restored")
	}
	if err = s.saveLocked(); err == nil {
		s.journal.keepHead(false, false)
	}
	return err
}

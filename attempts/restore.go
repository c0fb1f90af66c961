package attempts

import (
	"io"
	"os"
	"slices"

	"relay/attempts/internal/durable"
)

// Restore looks whether somebody else has changed, replaced or removed the store's own files, the whole folder
// included, puts them back from memory, and names those that had been changed, by their path below the relay folder.
// It reads nothing when nothing was touched, so it may be called after every attempt. The store can be used as before
// afterwards, unless it returns an error.
func (s *Store) Restore() (tampered []string, err error) {
	s.disk.Lock()
	defer s.disk.Unlock()
	names, err := s.restore()
	if err != nil {
		return nil, err
	}
	for _, name := range s.tampered { // found by Append meanwhile
		names = addName(names, name)
	}
	s.tampered = nil
	return names, nil
}

func addName(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// restore does the work of Restore. The caller holds the disk's lock.
func (s *Store) restore() (names []string, err error) {
	if err := s.failed(); err != nil {
		return nil, err
	}
	if names, err = (restorer{s}).restoreFiles(); err != nil {
		return nil, s.fail(err)
	}
	return names, nil
}

// restorer puts the files of a store back, one after the other. The caller holds the disk's lock.
type restorer struct{ *Store }

func (s restorer) restoreFiles() (names []string, err error) {
	if s.fsys.Moved() {
		next, err := s.fsys.Recreate()
		if err != nil {
			return nil, err
		}
		s.fsys.Close()
		s.fsys = next
	}
	note := func(name string, changed bool, ferr error) {
		if changed {
			names = append(names, name)
		}
		if err == nil {
			err = ferr
		}
	}
	changed, ferr := s.restoreLock()
	note(LockFile, changed, ferr)
	for _, k := range s.older {
		changed, ferr = k.PutBack(s.fsys)
		note(k.Name(), changed, ferr)
	}
	changed, ferr = s.restoreLog()
	note(s.copy.Name(), changed, ferr)
	if err != nil {
		return nil, err
	}
	changed, ferr = s.restoreLedger()
	note(LedgerFile, changed, ferr)
	if err == nil && len(names) > 0 {
		err = durable.Reserve(s.fsys, reserveFile)
	}
	return names, err
}

func (s restorer) restoreLock() (bool, error) {
	if s.lock.Intact(s.fsys) {
		return false, nil
	}
	if err := durable.Clear(s.fsys, LockFile); err != nil {
		return true, err
	}
	return true, s.lock.Renew(s.fsys, s.me)
}

// restoreLog puts the current log back. A log that only looks different is taken up again as it is.
func (s restorer) restoreLog() (bool, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.log.Intact(s.fsys) {
		return false, nil
	}
	if s.copy.Same(s.fsys) {
		return false, s.log.Reopen(s.fsys, nil)
	}
	if err := durable.Clear(s.fsys, s.copy.Name()); err != nil {
		return true, err
	}
	return true, s.log.Reopen(s.fsys, s.copy.Emit)
}

// ownLedger reports whether the ledger that is there is the one that was written last.
func (s *Store) ownLedger() bool {
	if s.saved == 0 && s.ledgerSum == "" {
		return true // there is none yet
	}
	info, err := s.fsys.Lstat(LedgerFile)
	if err == nil && info.Mode().IsRegular() && durable.StampOf(info).Same(s.ledger) {
		return true
	}
	file, err := readLedger(s.fsys)
	if err != nil || file == nil || s.ledgerSum == "" || file.sum() != s.ledgerSum {
		return false
	}
	s.ledger = file.stamp
	return true
}

func (s restorer) restoreLedger() (bool, error) {
	if s.ownLedger() {
		return false, nil
	}
	if err := durable.Clear(s.fsys, LedgerFile); err != nil {
		return true, err
	}
	return true, s.replaceLedger(func() {})
}

// restoreDeep also reads the log, because a change in the same instant as our own write leaves no trace in its times.
func (s *Store) restoreDeep() ([]string, error) {
	names, err := s.restore()
	if err != nil {
		return nil, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.copy.Same(s.fsys) {
		return names, nil
	}
	if err := s.log.Reopen(s.fsys, s.copy.Emit); err != nil {
		return nil, s.failLocked(err)
	}
	return addName(names, s.copy.Name()), nil
}

// cut removes what a crash has left at the end of a log, and keeps it beside the log.
func (s *Store) cut(l *logFile) error {
	f, err := durable.Regular(s.fsys, l.name(), os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	torn := io.NewSectionReader(f, l.tail.Offset, l.tail.Bytes)
	if err := durable.Replace(s.fsys, l.name()+".torn", nil, durable.From(torn)); err != nil {
		return err
	}
	if err := f.Truncate(l.tail.Offset); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	l.copy = durable.NewCopy(l.name())
	_, err = io.Copy(l.copy, io.NewSectionReader(f, 0, l.tail.Offset))
	return err
}

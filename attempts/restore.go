package attempts

import (
	"cmp"
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
	if err := s.journal.failed(); err != nil {
		return nil, err
	}
	if names, err = s.restoreFiles(); err != nil {
		return nil, s.journal.fail(err)
	}
	return names, nil
}

// restoreFiles puts the files of a store back, one after the other.
func (s *Store) restoreFiles() (names []string, err error) {
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
	put(LockFile, s.lock.Intact(s.fsys), func() error { return s.lock.Renew(s.fsys, s.me) })
	for _, k := range s.older {
		changed, ferr := k.PutBack(s.fsys)
		if changed {
			names = append(names, k.Name())
		}
		err = cmp.Or(err, ferr)
	}
	s.journal.mu.Lock()
	intact := s.journal.log.Intact(s.fsys)
	if !intact && s.journal.copy.Same(s.fsys) { // it only looks different, and is taken up again as it is
		intact, err = true, cmp.Or(err, s.journal.log.Reopen(s.fsys, nil))
	}
	put(s.journal.copy.Name(), intact, func() error { return s.journal.log.Reopen(s.fsys, s.journal.copy.Emit) })
	s.journal.mu.Unlock()
	if err != nil {
		return nil, err
	}
	put(LedgerFile, s.ownLedger(), func() error { return s.replaceLedger(func() {}) })
	if err == nil && len(names) > 0 {
		err = durable.Reserve(s.fsys, reserveFile)
	}
	return names, err
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

// restoreDeep also reads the log, because a change in the same instant as our own write leaves no trace in its times.
func (s *Store) restoreDeep() ([]string, error) {
	names, err := s.restore()
	if err != nil {
		return nil, err
	}
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	if s.journal.copy.Same(s.fsys) {
		return names, nil
	}
	if err := s.journal.log.Reopen(s.fsys, s.journal.copy.Emit); err != nil {
		return nil, s.journal.failLocked(err)
	}
	return addName(names, s.journal.copy.Name()), nil
}

// cut removes what a crash has left at the end of a log, and keeps it beside the log.
func cut(fsys durable.FS, l *logFile) error {
	f, err := durable.Regular(fsys, l.name(), os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	torn := io.NewSectionReader(f, l.tail.Offset, l.tail.Bytes)
	if err := durable.Replace(fsys, l.name()+".torn", nil, durable.From(torn)); err != nil {
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

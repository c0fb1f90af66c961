package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
)

// Log is an append-only file. Writers that come while a sync is under way share the next one.
//
// After a failed write or sync every call returns that same error: the kernel may have dropped the bytes, so a second
// sync that succeeds would prove nothing.
type Log struct {
	fsys  FS
	name  string
	fault Fault

	mu      sync.Mutex
	settled sync.Cond // a sync has ended
	f       File
	size    int64 // bytes written by us and found on open
	stamp   Stamp // as we last left the file
	wrote   uint64
	synced  uint64
	syncing bool
	moved   bool // the last write did not land where it should
	err     error
}

// OpenLog opens a log for appending, or makes it; then its name is durable when OpenLog returns.
func OpenLog(fsys FS, name string, fault Fault) (*Log, error) {
	l := &Log{fsys: fsys, name: name, fault: fault}
	l.settled.L = &l.mu
	fresh := false
	f, err := Regular(fsys, name, os.O_RDWR|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		fresh = true
		f, err = fsys.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, ownPerm)
	}
	if err != nil {
		return nil, err
	}
	l.f = f
	if fresh { // the file itself is synced with its first line
		err = fsys.SyncDir(path.Dir(name))
	}
	if err == nil {
		err = l.restamp()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	l.size = l.stamp.Size
	return l, nil
}

func (l *Log) restamp() error {
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	l.stamp = StampOf(info)
	return nil
}

// Synced returns the highest mark known to be durable.
func (l *Log) Synced() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced
}

// Start sets the mark of what the log held when it was opened.
func (l *Log) Start(mark uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrote, l.synced = mark, mark
}

// Write appends whole lines in one write. They are durable only when Wait(mark) has returned nil.
func (l *Log) Write(mark uint64, lines []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	if err := l.write(lines); err != nil {
		l.err = fmt.Errorf("append to %s: %w", l.name, err)
		l.settled.Broadcast()
		return l.err
	}
	l.size += int64(len(lines))
	l.wrote = mark
	// Somebody else's truncation, removal or append shows here at no cost.
	l.moved = l.moved || l.restamp() != nil || l.stamp.Size != l.size || l.stamp.Links == 0
	return nil
}

func (l *Log) write(lines []byte) error {
	if err := l.fault.at(BeforeWrite); err != nil {
		return err
	}
	if l.fault != nil { // only to be cut between the halves: a real append is one write
		half := len(lines) / 2
		if _, err := l.f.Write(lines[:half]); err != nil {
			return err
		}
		if err := l.fault.at(TornWrite); err != nil {
			return err
		}
		lines = lines[half:]
	}
	if _, err := l.f.Write(lines); err != nil {
		return err
	}
	return l.fault.at(AfterWrite)
}

// Wait returns when everything up to mark is durable. One waiter syncs for all whose lines are written by then.
func (l *Log) Wait(mark uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.synced < mark && l.err == nil {
		if l.syncing {
			l.settled.Wait()
			continue
		}
		l.sync()
	}
	return l.err
}

// sync syncs the log. The caller holds the lock, which sync releases while the disk works.
func (l *Log) sync() {
	l.syncing = true
	upTo, f := l.wrote, l.f
	l.mu.Unlock()
	err := f.Sync()
	if err == nil {
		err = l.fault.at(AfterSync)
	}
	l.mu.Lock()
	l.syncing = false
	switch {
	case err == nil:
		l.synced = max(l.synced, upTo)
	case l.err == nil:
		l.err = fmt.Errorf("sync %s: %w", l.name, err)
	}
	l.settled.Broadcast()
}

// Displaced reports whether a write has shown that somebody else changed the file.
func (l *Log) Displaced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.moved
}

// Intact compares the file under the log's name with what this program left there, without reading it.
func (l *Log) Intact(fsys FS) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moved {
		return false
	}
	info, err := fsys.Lstat(l.name)
	return err == nil && info.Mode().IsRegular() && StampOf(info).Same(l.stamp)
}

// Reopen opens the file under the log's name again. With restore it first puts there what restore writes. Nothing is appended meanwhile.
func (l *Log) Reopen(fsys FS, restore func(io.Writer) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.settled.Wait()
	}
	if l.err != nil {
		return l.err
	}
	if err := l.reopen(fsys, restore); err != nil {
		l.err = fmt.Errorf("restore %s: %w", l.name, err)
		l.settled.Broadcast()
		return l.err
	}
	return nil
}

func (l *Log) reopen(fsys FS, restore func(io.Writer) error) error {
	l.fsys = fsys
	if restore != nil {
		if err := Replace(fsys, l.name, nil, Content{Write: restore}); err != nil {
			return err
		}
	}
	f, err := Regular(fsys, l.name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	l.f.Close()
	l.f, l.moved = f, false
	if restore != nil {
		l.synced = l.wrote // the restored file was synced whole
	}
	if err := l.restamp(); err != nil {
		return err
	}
	l.moved = l.stamp.Size != l.size
	return nil
}

// LastWords cuts off what a failed write left and appends one more thing with the space of the reserve. It is for a
// full disk only: there nothing that was written is lost, while after any other failure the file's state is unknown.
func (l *Log) LastWords(reserve string, lines []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !Full(l.err) {
		return l.err
	}
	if err := l.fsys.Remove(reserve); err != nil {
		return err
	}
	if err := l.f.Truncate(l.size); err != nil {
		return err
	}
	if _, err := l.f.Write(lines); err != nil {
		return err
	}
	return l.f.Sync()
}

// Close closes the file. It does not sync: whatever was acknowledged is durable already.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.settled.Wait()
	}
	if l.err == nil {
		l.err = fs.ErrClosed
	}
	return l.f.Close()
}

// Fail ends all writing with an error that happened elsewhere.
func (l *Log) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		l.settled.Broadcast()
	}
}

package durable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Holder names who has the lock, as written in the lock file.
type Holder struct {
	PID   int       `json:"pid"`
	Start uint64    `json:"start,omitempty"` // of the process, in the system's own unit: with Boot it tells the owners of one pid apart
	Host  string    `json:"host"`
	Boot  string    `json:"boot,omitempty"` // tells two machines, or two starts of one, apart where the system names its starts
	Epic  string    `json:"epic"`
	Dir   string    `json:"dir,omitempty"` // relay's folder, where the lock is of more than one epic
	Since time.Time `json:"since"`

	Machine string `json:"machine,omitempty"` // names the machine where the system does: its Host can change
}

// Here describes this process, without epic and folder.
func Here(now time.Time) Holder {
	h := Holder{PID: os.Getpid(), Boot: BootID(), Machine: machineID(), Since: now.UTC().Truncate(time.Second)}
	h.Start = startOf(h.PID)
	if host, err := os.Hostname(); err == nil {
		h.Host = host
	}
	return h
}

// Reachable reports whether the holder is a process of this host that lives, and not another one that has its pid by now.
func (h Holder) Reachable() bool {
	here := Here(h.Since)
	return h.PID > 0 && h.Host == here.Host && h.Boot == here.Boot && h.Start == startOf(h.PID) && (h.Start > 0 || here.Start == 0)
}

// HeldError means that somebody else has the lock.
type HeldError struct {
	Holder  Holder
	Foreign bool   // the holder is on another host, where this host cannot see whether it lives
	Path    string // of the lock file; "" : it is the ledger's
}

func (e *HeldError) Error() string {
	if e.Foreign {
		return fmt.Sprintf("held by process %d on another host, %s, since %s", e.Holder.PID, e.Holder.Host, e.Holder.Since.Format(time.RFC3339))
	}
	if e.Holder.PID == 0 {
		return "held by another process"
	}
	return fmt.Sprintf("held by process %d on %s since %s", e.Holder.PID, e.Holder.Host, e.Holder.Since.Format(time.RFC3339))
}

// Lock is an advisory lock on a file. The operating system frees it when the process ends, however it ends.
type Lock struct {
	fsys  FS
	name  string
	f     File
	me    Holder
	stamp Stamp
}

const (
	lockTries = 10 // a reader that only looks holds the lock for microseconds
	lockPause = 5 * time.Millisecond
	maxHolder = 4 << 10
)

// Acquire takes the lock and writes its holder into it, or returns a *HeldError within a tenth of a second.
func Acquire(fsys FS, name string, me Holder) (*Lock, error) {
	f, err := Regular(fsys, name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, ownPerm)
	}
	if err != nil {
		return nil, err
	}
	l := &Lock{fsys: fsys, name: name, f: f, me: me}
	if err := l.take(); err != nil {
		return nil, errors.Join(err, letGo(l.f))
	}
	return l, nil
}

func (l *Lock) take() error {
	ok, err := l.f.TryLock(true)
	for try := 1; err == nil && !ok && try < lockTries; try++ {
		time.Sleep(lockPause)
		ok, err = l.f.TryLock(true)
	}
	if err != nil {
		return err
	}
	before, found := readHolder(l.f)
	if !ok {
		return &HeldError{Holder: before}
	}
	if found && foreign(l.f, before, l.me) {
		return &HeldError{Holder: before, Foreign: true}
	}
	if err := l.write(); err != nil {
		return err
	}
	if !l.Intact(l.fsys) {
		return &HeldError{} // the file was replaced while we waited: another process may hold its successor
	}
	return nil
}

// foreign reports whether the holder that a lock names may live on another machine, so that the lock only seems to be free. Under another
// name it is this one only if the machine's id is the same, which copies of a machine share, and no other machine can have the file.
func foreign(f File, before, me Holder) bool {
	if before.Host == me.Host || before.Boot != "" && before.Boot == me.Boot {
		return false
	}
	disk, ok := f.(diskFile)
	return before.Machine == "" || before.Machine != me.Machine || !ok || !onlyHere(disk.File)
}

func (l *Lock) write() error {
	text, err := json.Marshal(l.me)
	if err != nil {
		return err
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	if _, err := l.f.Seek(0, io.SeekStart); err != nil { // it was read from
		return err
	}
	if _, err := l.f.Write(append(text, '\n')); err != nil {
		return err
	}
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	l.stamp = StampOf(info)
	return nil
}

// Intact reports whether the file under the lock's name is ours as we left it.
func (l *Lock) Intact(fsys FS) bool {
	info, err := fsys.Lstat(l.name)
	return err == nil && info.Mode().IsRegular() && StampOf(info).Same(l.stamp)
}

// Renew puts the lock file back after somebody removed or changed it.
func (l *Lock) Renew(fsys FS) error {
	info, err := fsys.Lstat(l.name)
	if err == nil && info.Mode().IsRegular() && StampOf(info).Ino == l.stamp.Ino {
		return l.write() // still the file we hold, only its text was changed
	}
	if err == nil {
		err = fsys.Remove(l.name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	next, err := Acquire(fsys, l.name, l.me)
	if err != nil {
		return err
	}
	l.f.Close()
	*l = *next
	return nil
}

// Release empties the lock file and lets go. The file stays: removing it would let two processes lock two files of one name.
func (l *Lock) Release() error {
	return errors.Join(l.f.Truncate(0), letGo(l.f))
}

func letGo(f File) error { return errors.Join(f.Unlock(), f.Close()) }

// Remove removes the lock file and releases the lock. A process that waits for it notices that the file under the name is
// another one.
func (l *Lock) Remove() error {
	err := l.fsys.Remove(l.name) // before letting go: what stands there later is somebody else's
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, letGo(l.f))
}

// LockState says who holds a lock.
type LockState struct {
	Holder  Holder // also who held it last
	Held    bool
	Foreign bool // it is free here, but the holder may live on another machine: [Acquire] does not take it
}

// InspectLock returns the state of a lock without writing anything. A lock without a file is free.
func InspectLock(fsys FS, name string) (s LockState, err error) {
	f, err := Regular(fsys, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	holder, found := readHolder(f)
	free, err := f.TryLock(false)
	s = LockState{Holder: holder, Held: err == nil && !free}
	s.Foreign = found && !s.Held && foreign(f, holder, Here(holder.Since))
	return s, errors.Join(err, letGo(f))
}

func readHolder(r io.Reader) (Holder, bool) {
	text, err := io.ReadAll(io.LimitReader(r, maxHolder))
	if err != nil || len(text) == 0 {
		return Holder{}, false
	}
	var h Holder
	if json.Unmarshal(text, &h) != nil {
		return Holder{}, false
	}
	return h, true
}

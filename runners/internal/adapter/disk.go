package adapter

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"relay/epic/plaintext"
	"relay/runners"
)

// clockStep is how late the times of files may be.
const clockStep = 20 * time.Millisecond

// restAfterWalk is for how many times as long as a walk through the files took none follows.
const restAfterWalk = 20

// disk is what a process has taken of the disk that it works on.
type disk struct {
	dir   string
	floor int64     // of the run in bytes; 0: none
	began time.Time // of the process …
	free  uint64    // … and the most bytes that were free since
	next  time.Time // no walk before
	full  error     // it has filled the disk; nil: it has not

	isFull func(dir string, floor int64) (free uint64, full bool)
}

// newDisk looks at the disk of a process that starts now.
func newDisk(dir string, floor int64) *disk {
	free, _ := runners.FreeSpace(dir)
	return &disk{dir: dir, floor: floor, began: time.Now().Add(-clockStep), free: free, isFull: runners.IsFull}
}

// filled returns an error if the disk is full, and the process has taken much of it.
func (d *disk) filled() error {
	free, full := d.isFull(d.dir, d.floor)
	d.free = max(d.free, free)
	if d.full != nil || !full || time.Now().Before(d.next) {
		return d.full
	}
	walk := time.Now()
	taken, much := d.much(free)
	d.next = walk.Add(restAfterWalk * time.Since(walk))
	if much {
		d.full = fmt.Errorf("%w: what it wrote took %s, and left %s", ErrFilled, plaintext.Bytes(taken), plaintext.Bytes(free))
	}
	return d.full
}

// much reports whether what the process has written in its folder is at least a quarter of what the disk has lost meanwhile, as others may
// do the same, and an eighth of the floor. Files elsewhere and files with older times do not count.
func (d *disk) much(free uint64) (taken uint64, yes bool) {
	least := uint64(d.floor) / runners.FloorPart
	if d.floor <= 0 || d.free < free+least {
		return 0, false
	}
	taken = takenSince(d.dir, d.began)
	return taken, taken >= max(least, (d.free-free)/4)
}

// heavy reports whether the process stands in the way if the disk has no room for a copy of what it wrote.
func (d *disk) heavy() bool {
	free, _ := d.isFull(d.dir, d.floor)
	_, much := d.much(free)
	return d.full != nil || much
}

// takenSince returns how many bytes of the disk the files below a folder take that were written since an instant.
func takenSince(dir string, since time.Time) (bytes uint64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // the process works there
		}
		if info, err := d.Info(); err == nil && !info.ModTime().Before(since) {
			bytes += uint64(info.Sys().(*syscall.Stat_t).Blocks) * 512
		}
		return nil
	})
	return bytes
}

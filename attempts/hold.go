package attempts

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"relay/attempts/internal/durable"
)

// Held is a lock file that this process holds: of a checkout or a repository, say. The ledger's own lock belongs to
// its [Store]. The operating system frees it when the process ends, however it ends.
type Held struct {
	disk *durable.Disk
	lock *durable.Lock
}

// Hold takes the lock in the file at path, whose folder must be there, and writes into it who has it. When somebody
// else does, or did on another host and never let go, the error is a [*HeldError], within a tenth of a second.
func Hold(path string, who Holder) (*Held, error) {
	disk, err := durable.OpenDisk(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	lock, err := durable.Acquire(disk, filepath.Base(path), who)
	if err != nil {
		disk.Close()
		if held, ok := errors.AsType[*HeldError](err); ok {
			held.Path = path
		}
		return nil, err
	}
	return &Held{disk, lock}, nil
}

// HeldBy returns who has the lock in the file at path now, or nil, and writes nothing.
func HeldBy(path string) (*Holder, error) {
	disk, err := durable.OpenDisk(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	lock, err := durable.InspectLock(disk, filepath.Base(path))
	if err != nil || !lock.Held {
		return nil, err
	}
	return &lock.Holder, nil
}

// holdPause is how often somebody who waits for a lock looks whether it is free.
const holdPause = 10 * time.Millisecond

// HoldWithin takes the lock as [Hold] does, but waits up to patience for another holder to release it. When ctx ends
// first, it returns the cause of that.
func HoldWithin(ctx context.Context, patience time.Duration, path string, who Holder) (*Held, error) {
	late := time.After(patience)
	for {
		h, err := Hold(path, who)
		if _, ok := errors.AsType[*HeldError](err); !ok {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-late:
			return nil, err
		case <-time.After(holdPause):
		}
	}
}

// Intact reports whether the lock file is still where it was taken, as this process left it.
func (h *Held) Intact() bool { return !h.disk.Moved() && h.lock.Intact(h.disk) }

// Release removes the lock file and releases the lock.
func (h *Held) Release() error { return errors.Join(h.lock.Remove(), h.disk.Close()) }

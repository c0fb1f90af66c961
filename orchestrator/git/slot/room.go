package slot

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
)

// Room watches the disk of the slots while attempts run. It stops the task that would fill it within seconds: the other tasks, and
// relay's own records, need room too.
type Room struct {
	names *Names
	stops sync.Map // a context.CancelCauseFunc, by task

	mu   sync.Mutex
	last room
}

// room is what was left on the disk at one time.
type room struct {
	at   time.Time
	free int64
	held map[string]int64 // bytes in the slots of each task; nil: not measured
}

const (
	roomEvery = 250 * time.Millisecond
	roomAhead = 2 * time.Second // a disk that is full within that time is in danger
)

// FillsDiskError means that a task was stopped since it was filling the disk. As the cause of a cancelled context it decides the outcome
// of an attempt.
type FillsDiskError struct{ Held, Free int64 }

// Error says how much the task's checkouts held, and how much was free.
func (e *FillsDiskError) Error() string {
	return fmt.Sprintf("it was filling the disk: its checkouts took %s, %s were free", plaintext.Bytes(uint64(e.Held)), plaintext.Bytes(uint64(e.Free)))
}

// NewRoom returns the watch over the disk of a run's slots.
func NewRoom(names *Names) *Room { return &Room{names: names} }

// Watch returns a context for a task, which ends with a *[FillsDiskError] if the task is filling the disk. over ends the watch.
func (r *Room) Watch(ctx context.Context, task string) (_ context.Context, over func()) {
	ctx, stop := context.WithCancelCause(ctx)
	r.stops.Store(task, stop)
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(roomEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-tick.C:
				r.look()
			}
		}
	})
	return ctx, func() {
		stop(nil)
		watch.Wait()
		r.stops.Delete(task)
	}
}

// look stops a task whose slots have taken most of what the disk has lost since the look before, if the disk is in danger.
func (r *Room) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	free, err := worktree.FreeSpace(r.names.pool.folder.path)
	before, now := r.last, room{at: time.Now(), free: int64(free)}
	passed, lost := now.at.Sub(before.at), before.free-now.free
	if err != nil || passed < roomEvery/2 { // another attempt has looked
		return
	}
	if float64(lost)/float64(passed)*float64(roomAhead) > float64(now.free) {
		now.held = r.names.held()
	}
	r.last = now
	for task, held := range now.held {
		if stop, runs := r.stops.Load(task); runs && before.held != nil && 2*(held-before.held[task]) >= lost {
			stop.(context.CancelCauseFunc)(&FillsDiskError{held, now.free})
		}
	}
}

// held returns what the slots of each task take of the disk, in bytes.
func (n *Names) held() map[string]int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	held := make(map[string]int64)
	for name, task := range n.task {
		_ = filepath.WalkDir(filepath.Join(n.pool.folder.path, name), func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // it is gone meanwhile
			}
			if info, err := d.Info(); err == nil {
				held[task] += info.Sys().(*syscall.Stat_t).Blocks * 512
			}
			return nil
		})
	}
	return held
}

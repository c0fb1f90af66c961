package checks

import (
	"context"
	"errors"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sys/unix"

	"relay/orchestrator/changes"
)

const (
	longCheck  = 10 * time.Minute // a check that takes longer is repeated once only
	passes     = 3                // how often a check that has failed must pass to count as flaky
	collisions = 2                // after so many checks run one at a time
	lockPause  = 20 * time.Millisecond
	lockWait   = 30 * time.Second
)

// turns lets the checks of a run go side by side, or one alone, also among those of the user's other runs on this machine.
type turns struct {
	folder   string // that all runs share; "": each is by itself
	places   *semaphore.Weighted
	all      int64        // places: how many checks may run at once
	began    atomic.Int64 // checks
	busy     atomic.Int64 // checks that run
	collided atomic.Int64 // checks that failed beside others and passed alone
}

func newTurns(most int, folder string) *turns {
	all := int64(most)
	if all <= 0 {
		all = math.MaxInt32
	}
	return &turns{places: semaphore.NewWeighted(all), all: all, folder: folder}
}

// take waits for a turn, and reports in the end whether other checks of this run ran at the same time.
// It waits for this run's as long as wait lasts.
func (t *turns) take(ctx, wait context.Context, alone bool) (leave func() (beside bool), err error) {
	places, how := int64(1), unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	if alone || t.collided.Load() >= collisions {
		places = t.all
	}
	if err := t.places.Acquire(wait, places); err != nil {
		return nil, err
	}
	lock := t.lock(ctx, how)
	before, busy := t.began.Add(1), t.busy.Add(1)
	return func() bool {
		_ = lock.Close()
		t.busy.Add(-1)
		t.places.Release(places)
		return busy > 1 || t.began.Load() > before
	}, nil
}

// lock locks the file of all runs; nil: there can be none. It does not wait for ever: the relay that has it may be frozen, or may have
// begun this run by a check of its own.
func (t *turns) lock(ctx context.Context, how int) *os.File {
	if t.folder == "" {
		return nil // closing it has no effect
	}
	f, err := os.OpenFile(filepath.Join(t.folder, "checks.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil // the folder is not there yet
	}
	over := time.After(lockWait)
	for errors.Is(unix.Flock(int(f.Fd()), how|unix.LOCK_NB), unix.EWOULDBLOCK) {
		select {
		case <-ctx.Done():
			return f
		case <-over:
			return f
		case <-time.After(lockPause):
		}
	}
	return f
}

// TrustUnless has a check that is flaky count as failed again if the output of its failure names a test among files: a test of the work's
// own is not flaky, but wrong.
func (r *Result) TrustUnless(files []string) {
	if r.Flaky == nil {
		return
	}
	said := r.Flaky.Run.Tail + strings.Join(r.Flaky.Said, "\n")
	if slices.ContainsFunc(files, func(f string) bool { return changes.IsTest(f) && strings.Contains(said, path.Base(f)) }) {
		*r = *r.Flaky
	}
}

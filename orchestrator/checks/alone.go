package checks

import (
	"context"
	"math"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"relay/orchestrator/changes"
)

const (
	longCheck  = 10 * time.Minute // a check that takes longer is repeated once only
	passes     = 3                // how often a check that has failed must pass to count as flaky
	collisions = 2                // after so many checks run one at a time
)

// turns lets the checks of a run go side by side, or one alone.
type turns struct {
	places   *semaphore.Weighted
	all      int64        // places: how many checks may run at once
	began    atomic.Int64 // checks
	busy     atomic.Int64 // checks that run
	collided atomic.Int64 // checks that failed beside others and passed alone
}

func newTurns(most int) *turns {
	all := int64(most)
	if all <= 0 {
		all = math.MaxInt32
	}
	return &turns{places: semaphore.NewWeighted(all), all: all}
}

// take waits for a turn, and reports in the end whether other checks ran at the same time.
func (t *turns) take(ctx context.Context, places int64) (leave func() (beside bool), err error) {
	if t.collided.Load() >= collisions {
		places = t.all
	}
	if err := t.places.Acquire(ctx, places); err != nil {
		return nil, err
	}
	before, busy := t.began.Add(1), t.busy.Add(1)
	return func() bool {
		t.busy.Add(-1)
		t.places.Release(places)
		return busy > 1 || t.began.Load() > before
	}, nil
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

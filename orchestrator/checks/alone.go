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

// again repeats a check that has failed, in the same place, and alone if no other check takes longer to end than this one has taken: one
// failure may be a flake, or come from another check. What passes then, and does so every time, counts as passed.
func (r *Runner) again(ctx context.Context, at Location, check Check, first Result) (Result, error) {
	took := time.Duration(first.Run.Seconds * float64(time.Second))
	wait, cancel := context.WithTimeout(ctx, max(took, time.Second))
	defer cancel()
	leave, err := r.turns.take(wait, r.turns.all)
	if err != nil {
		first.Crowded = true
		if leave, err = r.turns.take(ctx, 1); err != nil {
			return first, nil // the run is stopped
		}
	}
	defer leave()
	check.Occasion += OnAgain
	var last Result
	for n := 0; n == 0 || n < passes && took < longCheck; n++ {
		last, err = r.runNow(ctx, at, check)
		if err != nil || ctx.Err() != nil || !last.Passed() {
			return first, err
		}
	}
	if first.Beside {
		r.turns.collided.Add(1)
	}
	last.Flaky = &first
	return last, nil
}

// NamesTestOf reports whether the output of a check names a test among files.
func (r Result) NamesTestOf(files []string) bool {
	said := r.Run.Tail + strings.Join(r.Said, "\n")
	return slices.ContainsFunc(files, func(f string) bool { return changes.IsTest(f) && strings.Contains(said, path.Base(f)) })
}

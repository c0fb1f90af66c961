package checks

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// RegressionFinder runs the checks of completed tasks again.
type RegressionFinder struct {
	Epic    *epic.Epic
	Jobs    int     // tasks at once
	Share   float64 // of the run's time so far: how long checks may run
	View    func(read func(l *attempts.Ledger))
	Checker engine.Rechecker
	Ran     func() time.Duration // the run's clock
	Begins  func(tasks int)      // called before the checks of so many tasks are run
}

// LeastRegression is how long checks of completed tasks may be run again at the end of a run, however short it was.
const LeastRegression = 2 * time.Minute

// Regression holds the checks that fail on the tip.
type Regression struct {
	Tasks   []LandedTask     // in the order of the plan
	Epic    []attempts.Note  // checks of the epic, in words
	Proved  []engine.Attempt // that checks prove by now, and did not when they landed
	Skipped []string         // completed tasks whose checks were not run again, for want of time
	Notes   []attempts.Note  // what had to be put right afterwards
}

// LandedTask is a completed task with a check of its own that fails on the tip.
type LandedTask struct {
	Attempt engine.Attempt // that completed it
	Undone  attempts.Undone
	Text    string // for a person
}

// Find runs the checks of tasks that landed before tip, and those of the epic; whole is the epic as an attempt. After Share of
// the run's time, and Least at least, the tasks that are left are skipped. It fails if the engine's machine does; the notes are
// given also then.
func (f *RegressionFinder) Find(ctx context.Context, whole engine.Attempt, tip string) (result Regression, err error) {
	done, blind, last := f.landedBefore(tip)
	if len(done)+len(f.Epic.Checks)+len(blind) == 0 {
		return result, nil
	}
	if err := f.Checker.BeginRecheck(ctx, whole, tip); err != nil {
		return result, err
	}
	defer func() {
		notes, ending := f.Checker.EndRecheck(ctx, tip)
		result.Notes = notes
		err = errors.Join(err, ending)
	}()
	began := f.Ran()
	until := began + max(time.Duration(f.Share*float64(began)), LeastRegression)
	if len(done) > 0 {
		f.Begins(len(done))
	}
	var mu sync.Mutex
	var failed []landedTask
	var all errgroup.Group
	all.SetLimit(max(f.Jobs, 1))
	for _, task := range done {
		all.Go(func() error {
			if f.Ran() < until {
				if found, err := f.regressed(ctx, task, tip); found == nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, task) // or there was no time for it, as again sees
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return result, err
	}
	err = f.again(ctx, failed, tip, until, &result)
	if slices.Sort(result.Skipped); err == nil {
		result.Epic, err = f.failing(ctx, last, tip)
	}
	sound := last.Run != "" && len(result.Tasks)+len(result.Epic) == 0 // else checks may fail with the code as well
	for i := 0; sound && err == nil && i < len(blind) && f.Ran() < until; i++ {
		var proves bool
		if proves, err = f.Checker.Proves(ctx, blind[i].a, blind[i].files, tip); proves {
			result.Proved = append(result.Proved, blind[i].a)
		}
	}
	return result, err
}

// again keeps those of the tasks whose checks fail again, one task after another: side by side they may share a port or a file.
func (f *RegressionFinder) again(ctx context.Context, tasks []landedTask, tip string, until time.Duration, result *Regression) error {
	slices.SortFunc(tasks, func(a, b landedTask) int { return cmp.Compare(a.at, b.at) })
	for _, task := range tasks {
		if f.Ran() >= until {
			result.Skipped = append(result.Skipped, task.a.Task.ID)
			continue
		}
		found, err := f.regressed(ctx, task, tip)
		if err != nil {
			return err
		}
		if found != nil {
			result.Tasks = append(result.Tasks, *found)
		}
	}
	return nil
}

// regressed runs a task's checks on tip. It returns nil unless one fails.
func (f *RegressionFinder) regressed(ctx context.Context, task landedTask, tip string) (*LandedTask, error) {
	failed, err := f.Checker.Recheck(ctx, task.a, tip)
	if err != nil || failed == nil {
		return nil, err
	}
	since := f.landedSince(task)
	return &LandedTask{
		Attempt: task.a, Undone: attempts.Undone{At: time.Now().UTC(), Tip: tip, Since: since, Check: failed.Run},
		Text: task.fails(failed.Why, since),
	}, nil
}

// failing returns, as notes, the checks of the epic that fail on tip because of the epic's work, which the last attempt has landed.
func (f *RegressionFinder) failing(ctx context.Context, last engine.Attempt, tip string) (notes []attempts.Note, err error) {
	if last.Run == "" {
		return nil, nil
	}
	failed, err := f.Checker.RecheckEpic(ctx, last, tip)
	for _, check := range failed {
		note := attempts.Note{Kind: "relapse", Text: "a check of the epic fails on what has landed: " + check.Why}
		if check.Old {
			note = attempts.Note{Kind: "broken_before", Text: "a check of the epic fails as it did before the run: " + check.Why}
		}
		notes = append(notes, note)
	}
	return notes, err
}

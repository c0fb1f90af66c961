package status

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/view"
)

// Follower keeps the model of an epic's newest night up to date while a run is on. It only reads, and takes no lock. Several goroutines
// must not use it at once.
type Follower struct {
	Model    *view.Builder
	Project  *project.Project
	Plan     *project.Plan
	Runs     []view.OneRun // of all nights, oldest first
	Last     uint64        // number of the last event
	Warnings []string      // about the records, from when they were read as a whole

	tail *attempts.Tail
	held bool

	night *view.Night // that Night returned last
	ahead *Forecast
	asked time.Time // for the forecast
}

// Follow reads all there is of an epic.
func Follow(ctx context.Context, p *project.Project) (*Follower, error) {
	f := &Follower{Project: p}
	return f, f.begin(ctx)
}

// begin reads plan, ledger and logs as a whole.
func (f *Follower) begin(ctx context.Context) error {
	pl, v, warning, err := f.Project.Read(ctx)
	if err != nil {
		return err
	}
	if warning != "" {
		v.Warnings = append(v.Warnings, warning)
	}
	pl.Source = nil // it is long, and viewers do not show it
	f.Plan, f.Warnings, f.held, f.Runs, f.tail = pl, append(f.Project.Damage, v.Warnings...), v.Running, nil, attempts.NewTail(f.Project.Dir)
	f.Model = view.New(Input(f.Project, pl, v, ""))
	_, _, err = f.take(nil)
	return err
}

// Next takes in what has happened since the last call, and returns the tasks it was about. changed is false if nothing has.
func (f *Follower) Next(ctx context.Context) (tasks []string, changed bool, err error) {
	begun := len(f.Runs)
	tasks, changed, err = f.take(tasks)
	if err != nil {
		return nil, false, err
	}
	if len(f.Runs) > begun { // with another plan, perhaps
		return nil, true, f.begin(ctx)
	}
	holder, err := attempts.HeldBy(f.Project.File(attempts.LockFile))
	if held := holder != nil; err == nil && held != f.held {
		f.held, changed = held, true
		f.Model.SetRunning(held)
	}
	return tasks, changed, nil
}

// take applies the events that are new.
func (f *Follower) take(tasks []string) ([]string, bool, error) {
	before := f.Last
	err := f.tail.Next(func(e attempts.Event) error {
		f.Model.Apply(&e)
		if f.Last = max(f.Last, e.Seq); e.Task != "" && before > 0 {
			tasks = append(tasks, e.Task)
		}
		switch n := len(f.Runs) - 1; {
		case e.RunStarted != nil:
			f.Runs = append(f.Runs, view.OneRun{ID: e.Run, StartedAt: e.At, Jobs: e.RunStarted.Jobs, Until: e.RunStarted.Until})
		case e.RunStopped != nil && n >= 0 && f.Runs[n].ID == e.Run:
			f.Runs[n].StoppedAt, f.Runs[n].ExitCode, f.Runs[n].Reason = e.At, &e.RunStopped.ExitCode, e.RunStopped.Reason
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // an epic that was written by hand has none yet
	}
	return tasks, f.Last > before, err
}

// Bounds of how old a night without events and a forecast are: waits end, and what runs takes its time.
const (
	nightAge = 5 * time.Second
	aheadAge = 15 * time.Second
)

// Night takes in what has happened, and returns the night as it is then, with its forecast while a run is on.
func (f *Follower) Night(ctx context.Context, now time.Time) (*view.Night, error) {
	if _, changed, err := f.Next(ctx); err != nil || !changed && f.night != nil && now.Sub(f.night.At) < nightAge {
		return f.night, err
	}
	f.night = f.Model.Night(now)
	if f.night.Run.State == view.On && now.Sub(f.asked) > aheadAge {
		f.ahead, f.asked = f.Forecast(now), now
	}
	f.night.Forecast = f.ahead
	return f.night, nil
}

// Forecast estimates when the run that is on ends; nil: too little is known.
func (f *Follower) Forecast(now time.Time) *view.Forecast {
	jobs := 0
	if n := len(f.Runs); n > 0 {
		jobs = f.Runs[n-1].Jobs
	}
	return ForecastOf(f.Project, f.Plan, f.Model.Ledger(), jobs, now)
}

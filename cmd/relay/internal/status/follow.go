package status

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"runtime/debug"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Follower keeps the model of an epic's newest night up to date while a run is on. It only reads, and takes no lock. Several goroutines
// must not use it at once.
type Follower struct {
	Model    *view.Builder
	Project  *project.Project
	Plan     *project.Plan
	Last     uint64   // number of the last event
	Warnings []string // about the records, from when they were read as a whole

	run    string // that ends the night; "": the newest
	viewer bool   // the process does nothing but show the night, so its memory may be bounded
	tail   *attempts.Tail
	held   bool
	unread bool // the log

	night *view.Night // that Night returned last
	ahead *Forecast
	asked time.Time // for the forecast
}

// Follow reads all there is of an epic, for the night that ends with a run; "" is the newest. A viewer is a process that does nothing else.
func Follow(ctx context.Context, p *project.Project, run string, viewer bool) (*Follower, error) {
	f := &Follower{Project: p, run: run, viewer: viewer}
	if viewer {
		bound(openLimit)
	}
	return f, f.begin(ctx)
}

// longLog is how many events a viewer does not read before its first picture, for which the ledger is enough.
const longLog = 5000

// Limits of a process that does nothing but show an epic. All that it reads is a large part of what it needs afterwards, so that the
// collector waits for a limit, which is lower for the long log: that is read beside all else. The viewer keeps nearly all that it has
// then: with a limit near to that the collector would work all the time, and a heap that grows by heapGrowth per cent is enough.
const (
	onceLimit  = 56 << 20
	openLimit  = 44 << 20
	readLimit  = 39 << 20
	heapGrowth = 4
)

// Bound sets the limits of a process that shows an epic once: it ends before the collector has to work, unless the epic is very long.
func Bound() { unmapCode(); bound(onceLimit) }

func bound(limit int64) {
	debug.SetMemoryLimit(limit)
	debug.SetGCPercent(-1)
}

// Old reports whether the night is one before the newest.
func (f *Follower) Old() bool { return f.run != "" }

// Held reports whether somebody is at work on the epic.
func (f *Follower) Held() bool { return f.held }

// begin reads plan and ledger, and the logs as a whole: of a long one the next look does that, after a first picture.
func (f *Follower) begin(ctx context.Context) error {
	f.tail = nil
	pl, v, warning, err := f.Project.Read(ctx)
	if err != nil {
		return err
	} else if f.viewer {
		unmapCode()
	}
	if warning != "" {
		v.Warnings = append(v.Warnings, warning)
	}
	if f.run == v.Ledger.Folded.Run {
		f.run = ""
	}
	if f.Old() {
		pl = project.RunPlan(f.Project, f.run, pl)
	}
	f.Plan, f.Warnings, f.held = pl, append(f.Project.Damage, v.Warnings...), v.Running
	f.Model, f.Last, f.tail = view.New(Input(f.Project, pl, v, f.run)), 0, attempts.NewTail(f.Project.Dir)
	if f.unread = !f.Old() && runOf(v).State != report.Crashed && v.Ledger.Folded.Seq > longLog; !f.unread { // only its last event says when
		defer f.settle()
		_, _, err = f.take(nil)
	}
	return err
}

// settle bounds the memory of a viewer that has read all: it keeps nearly all it has.
func (f *Follower) settle() {
	if f.viewer {
		debug.SetGCPercent(heapGrowth)
		debug.SetMemoryLimit(math.MaxInt64)
		debug.FreeOSMemory()
	}
}

// Next takes in what has happened since the last call, and returns the tasks it was about. changed is false if nothing has.
func (f *Follower) Next(ctx context.Context) (tasks []string, changed bool, err error) {
	if f.tail == nil { // it could not be read
		return nil, true, f.begin(ctx)
	}
	if f.unread && f.viewer {
		bound(readLimit)
		defer f.settle()
	}
	begun := len(f.Model.Journal().Runs())
	tasks, changed, err = f.take(tasks)
	if err != nil {
		return nil, false, err
	}
	if len(f.Model.Journal().Runs()) > begun && !f.unread { // with another plan, perhaps
		return nil, true, f.begin(ctx)
	}
	f.unread = false
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
	aheadAge = 30 * time.Second
)

// Night takes in what has happened, and returns the night as it is then.
func (f *Follower) Night(ctx context.Context, now time.Time) (*view.Night, error) {
	if _, changed, err := f.Next(ctx); err != nil || !changed && f.night != nil && now.Sub(f.night.At) < nightAge {
		return f.night, err
	}
	return f.Make(now), nil
}

// Make returns the night as it is now, with its forecast while a run is on.
func (f *Follower) Make(now time.Time) *view.Night {
	f.night = f.Model.Night(now)
	if f.night.Run.State == view.On {
		if now.Sub(f.asked) > aheadAge {
			f.ahead, f.asked = ForecastOf(f.Project, f.Plan, f.Model.Ledger(), f.night.Run.Jobs, now), now
		}
		f.night.Forecast = f.ahead
	}
	return f.night
}

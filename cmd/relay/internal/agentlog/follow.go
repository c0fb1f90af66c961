package agentlog

import (
	"context"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
)

// How often a log that is followed is looked at, and the ledger for attempts that have begun.
const (
	lookEvery  = 200 * time.Millisecond
	readLedger = 5 // looks
)

type followed struct {
	Attempt
	streams []*stream
	over    bool // the ledger said that it has ended when it was last read
}

type follower struct {
	*Viewer
	task string // "": all
	list []*followed
	seen map[string]int // the last attempt of each task

	begun bool // the ledger was read
}

// Follow prints the ends of the logs of attempts, and then what their agents do, and those of later attempts of the task (of any with ""),
// until the run is over. It returns the context's cause when that ends.
func (v *Viewer) Follow(ctx context.Context, task string, list []Attempt) error {
	f := follower{Viewer: v, task: task, seen: map[string]int{}}
	defer func() {
		for _, at := range f.list {
			closeAll(at.streams)
		}
	}()
	for _, at := range list {
		one := &followed{Attempt: at, streams: v.streams(at, nil), over: !at.EndedAt.IsZero()}
		f.list, f.seen[at.Task] = append(f.list, one), at.ID
		if err := v.show(one.streams, one.over); err != nil {
			return err
		}
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for look := 0; ; look++ {
		on := true
		if look%readLedger == 0 {
			var err error
			if on, err = f.refresh(); err != nil {
				return err
			}
		}
		if err := f.look(!on); err != nil || !on || f.app.Out.Err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// refresh reads the ledger: it adds attempts that have begun, and takes out those that had ended before. It returns false when no
// run is on.
func (f *follower) refresh() (on bool, err error) {
	view, err := attempts.Read(f.project.Dir, nil, nil)
	if err != nil {
		return false, err
	}
	f.list = slices.DeleteFunc(f.list, func(at *followed) bool {
		if at.over {
			closeAll(at.streams)
		}
		return at.over
	})
	for _, id := range slices.Sorted(maps.Keys(view.Ledger.Tasks)) {
		tried := view.Ledger.Tasks[id].Attempts
		for i := range tried {
			f.take(id, &tried[i], view.Ledger.Run)
		}
	}
	f.begun = true
	s := &view.Ledger.Status
	goesOn := s.LastExitReason == project.Reloading && f.app.Now().Sub(s.StoppedAt) < project.ReloadWait
	return view.Running || goesOn, nil
}

func (f *follower) take(task string, at *attempts.Attempt, run string) {
	if f.task != "" && f.task != task {
		return
	}
	if i := slices.IndexFunc(f.list, func(one *followed) bool { return one.Task == task && one.ID == at.ID }); i >= 0 {
		f.list[i].over = !at.EndedAt.IsZero()
		return
	}
	if at.ID > f.seen[task] && at.Run == run {
		f.seen[task] = at.ID
		if !f.begun && !at.EndedAt.IsZero() {
			return // it was over before
		}
		f.list = append(f.list, &followed{Attempt: Attempt{task, at}, over: !at.EndedAt.IsZero()})
	}
}

// look prints what has come since the last look. last says that nothing more comes.
func (f *follower) look(last bool) error {
	for _, at := range f.list {
		at.streams = append(at.streams, f.streams(at.Attempt, at.streams)...)
		for _, s := range at.streams {
			ended := last || at.over
			if s.fileSize() == s.size && !ended {
				s.flush(f.print)
				continue
			}
			if err := s.readOn(ended, f.print); err != nil {
				return err
			}
			if ended {
				s.flush(f.print)
			}
		}
	}
	return nil
}

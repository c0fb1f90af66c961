package sessionkeeper

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/runners"
)

type attemptFacts struct {
	run, task string
	number    int
	agent     string // its name
	model     string // that its agent has reported, or that was asked for
	kind      string // of its CLI
	dir       string // where it worked
	session   string // the id that relay chose
	began     int64  // milliseconds
	summary   string
	ended     bool
	fork      *Fork // it is none of the plan's, but a fork; nil: it is

	started bool // the event that told this began it
}

// name is the attempt's folder below relay's, which is also the name of its mark.
func (f *attemptFacts) name() string {
	return filepath.ToSlash(filepath.Join(attempts.RunsDir, f.run, f.task, strconv.Itoa(f.number)))
}

// factOf returns what an event tells of an attempt; ok is false when it tells nothing. It keeps nothing of the event but texts.
func factOf(e *attempts.Event) (f attemptFacts, ok bool) {
	f = attemptFacts{run: e.Run, task: e.Task, number: e.Attempt}
	switch {
	case e.Started != nil:
		s := e.Started
		f.started, f.agent, f.model, f.kind, f.dir, f.session = true, s.Runner, s.Model, s.CLI, s.Dir, s.Session
		if !e.At.IsZero() {
			f.began = e.At.UnixMilli()
		}
	case e.Briefed != nil:
		f.dir = e.Briefed.Dir
	case e.Type == attempts.TypeAttemptEnded && e.Ended != nil:
		f.ended, f.model, f.summary = true, e.Ended.Model, cmp.Or(e.Ended.Receipt.Summary, e.Ended.Receipt.ErrorSummary)
	default:
		return f, false
	}
	return f, e.Task != "" && e.Attempt > 0
}

// attemptID tells attempts apart: a later run ends those of one that was killed.
type attemptID struct {
	task   string
	number int
}

// attemptList is what is known of attempts, in the order in which they began.
type attemptList struct {
	byID  map[attemptID]*attemptFacts
	order []*attemptFacts
}

// apply takes in what an event tells, and returns the attempt that it is about; nil: it has not begun.
func (l *attemptList) apply(f attemptFacts) *attemptFacts {
	id := attemptID{f.task, f.number}
	if f.started {
		if l.byID == nil {
			l.byID = map[attemptID]*attemptFacts{}
		}
		l.byID[id] = &f
		l.order = append(l.order, &f)
	}
	a := l.byID[id]
	if a == nil {
		return nil
	}
	a.dir, a.model = cmp.Or(f.dir, a.dir), cmp.Or(f.model, a.model)
	a.ended, a.summary = a.ended || f.ended, cmp.Or(f.summary, a.summary)
	return a
}

// withReviews returns all attempts, and the reviews of the whole epic.
func (l *attemptList) withReviews(dir string) (all []*attemptFacts) {
	return append(slices.Clone(l.order), reviews(dir, "*")...)
}

// reviews returns the reviews of the whole epic in a run; "*": in all.
func reviews(dir, run string) (list []*attemptFacts) {
	for _, path := range runners.Glob(filepath.Join(dir, attempts.RunsDir), run+"/"+engine.WholeEpic+"/*") {
		if number, err := strconv.Atoi(filepath.Base(path)); err == nil {
			run := filepath.Base(filepath.Dir(filepath.Dir(path)))
			list = append(list, &attemptFacts{run: run, task: engine.WholeEpic, number: number, ended: true})
		}
	}
	return list
}

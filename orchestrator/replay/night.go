package replay

import (
	"errors"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/schedule"
)

// Night is a recorded run as far as planning it with other settings needs that.
type Night struct {
	Run          string
	Began, Ended time.Time // Ended is the last event of a run that did not stop by itself
	Jobs         int
	Runners      []string // in order of preference; none: the log does not say
	Isolation    string   // "": the log does not say
	Tasks        []string // the run was about these, and what they depend on; none: all
	Usage        attempts.Usage

	epic   *epic.Epic
	graph  *epic.Graph
	before *attempts.Memory
	tries  map[string][]try
	ends   map[string]fate
}

// try is one attempt of a recorded run.
type try struct {
	number  int
	runner  string
	began   time.Time
	minutes float64 // 0: it has not ended
	outcome attempts.Outcome
	usd     float64
}

// fate is what became of a task in a run.
type fate uint8

const (
	left fate = iota
	completed
	gated
)

// ErrNoSuchRun means that the log has no event of a run.
var ErrNoSuchRun = errors.New("the event log has nothing of that run")

// ReadNight reads a run from the events of its epic. e is the plan that it went by.
func ReadNight(run string, e *epic.Epic, g *epic.Graph, events func(func(attempts.Event) error) error) (*Night, error) {
	n := &Night{Run: run, epic: e, graph: g, before: attempts.NewMemory(g), tries: map[string][]try{}, ends: map[string]fate{}}
	err := events(func(e attempts.Event) error {
		if e.Run == run {
			n.add(e)
		} else if n.Began.IsZero() {
			n.before.Fold(e)
		}
		return nil
	})
	if err == nil && n.Began.IsZero() {
		err = ErrNoSuchRun
	}
	return n, err
}

// add takes in an event of the run.
func (n *Night) add(e attempts.Event) {
	n.addTime(e)
	for _, s := range e.Steps {
		if s.Rules != nil {
			n.Runners, n.Isolation = s.Rules.Runners, s.Rules.Isolation
		}
	}
	switch {
	case e.RunStarted != nil:
		n.Jobs, n.Tasks = e.RunStarted.Jobs, e.RunStarted.Tasks
	case e.Started != nil:
		n.tries[e.Task] = append(n.tries[e.Task], try{number: e.Attempt, runner: e.Started.Runner, began: e.At})
	case e.Ended != nil:
		n.addEnd(e)
	case e.Gate != nil && e.Type == attempts.TypeGated:
		n.ends[e.Task] = gated
	case e.Undone != nil:
		n.ends[e.Task] = left
	case e.EpicReviewed != nil && e.EpicReviewed.Usage != nil:
		n.Usage.Add(*e.EpicReviewed.Usage)
	}
}

// addTime takes in when an event was; what a person does after the run is none of it.
func (n *Night) addTime(e attempts.Event) {
	if n.Began.IsZero() {
		n.Began = e.At
	}
	if len(e.Steps) > 0 || e.Ended != nil || e.Started != nil || e.RunStopped != nil {
		n.Ended = e.At
	}
}

func (n *Night) addEnd(e attempts.Event) {
	if e.Ended.Usage != nil {
		n.Usage.Add(*e.Ended.Usage)
	}
	at := slices.IndexFunc(n.tries[e.Task], func(t try) bool { return t.number == e.Attempt })
	if at < 0 { // it began under a run before
		n.tries[e.Task] = append(n.tries[e.Task], try{number: e.Attempt, began: n.Began})
		at = len(n.tries[e.Task]) - 1
	}
	t := &n.tries[e.Task][at]
	t.outcome = e.Ended.Outcome
	t.minutes = max(e.At.Sub(t.began).Minutes(), leastMinutes)
	if e.Ended.Usage != nil {
		t.usd = e.Ended.Usage.CostUSD
	}
	switch {
	case e.Ended.Result == attempts.ResultSuccess:
		n.ends[e.Task] = completed
	case e.Ended.Gate != nil:
		n.ends[e.Task] = gated
	}
}

// leastMinutes is what an attempt takes that has taken no time by the log, which knows milliseconds.
const leastMinutes = 1.0 / 60_000

// wanted are the tasks that the run was about; nil: all.
func (n *Night) wanted() ([]bool, error) { return schedule.Select(n.graph, n.Tasks) }

// schedule is that of the run when it began, with claims to files where tasks work side by side.
func (n *Night) schedule(wanted []bool) (s *schedule.Schedule) {
	n.before.View(func(l *attempts.Ledger) {
		s = schedule.New(n.epic, n.graph, l, wanted).WithFileClaims(n.Isolation != "none" && n.Isolation != "shared")
	})
	return s
}

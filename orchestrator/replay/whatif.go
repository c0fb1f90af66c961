package replay

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/schedule"
	"relay/orchestrator/verdict"
)

// WhatIf are settings in place of a run's own.
type WhatIf struct {
	Jobs    int      // 0: as recorded
	Runners []string // none: as recorded
}

// SettingError reports settings that cannot be simulated.
type SettingError struct{ Message, Hint string }

func (e *SettingError) Error() string { return e.Message }

// ParseWhatIf reads settings as in "jobs=4,runners=codex,claude": what has no = is one more value of the key before it.
func ParseWhatIf(written string) (w WhatIf, err error) {
	key := ""
	for part := range strings.SplitSeq(written, ",") {
		name, value, named := strings.Cut(part, "=")
		if named {
			key = strings.TrimSpace(name)
		} else {
			value = part
		}
		value = strings.TrimSpace(value)
		switch {
		case value == "":
			return w, &SettingError{"--what-if " + strconv.Quote(written) + " has a key or a value that is empty", whatIfHint}
		case key == "jobs" && named:
			if w.Jobs, err = strconv.Atoi(value); err != nil || w.Jobs < 1 || w.Jobs > attempts.MaxJobs {
				return w, &SettingError{fmt.Sprintf("jobs=%s is not a number from 1 to %d", value, attempts.MaxJobs), whatIfHint}
			}
		case key == "runners":
			w.Runners = append(w.Runners, value)
		default:
			return w, &SettingError{"--what-if cannot change " + strconv.Quote(plaintext.FirstOf(key, part)), whatIfHint}
		}
	}
	return w, nil
}

const whatIfHint = "the keys are jobs and runners: relay replay --what-if jobs=4,runners=codex,claude"

// Plan is a recorded run beside two simulations of it.
type Plan struct {
	Run      string   `json:"run"`
	Recorded Figures  `json:"recorded"`
	Same     Figures  `json:"same_settings"`    // simulated, with its own settings
	Planned  Figures  `json:"planned"`          // simulated, with the others
	Unknown  []string `json:"unknown"`          // what the plan cannot know
	Damage   []string `json:"damage,omitempty"` // of the log: where, and what is missing
}

// Figures are the duration, cost and result of a night.
type Figures struct {
	Jobs         int      `json:"jobs"`
	Runners      []string `json:"runners,omitempty"`
	Minutes      float64  `json:"minutes"`
	CostUSD      float64  `json:"cost_usd,omitempty"` // 0: it is unknown
	Completed    int      `json:"completed"`
	CriticalPath []string `json:"critical_path"` // the tasks that depend on each other and take longest together
	PathMinutes  float64  `json:"critical_path_minutes"`
}

// Plan plans the night with other settings: every task takes as long, costs as much and ends as it did.
func (n *Night) Plan(w WhatIf) (*Plan, error) {
	wanted, err := schedule.Select(n.graph, n.Tasks)
	if err != nil {
		return nil, err
	}
	p := &Plan{Run: n.Run, Recorded: n.recorded(), Unknown: []string{}}
	b := n.basis(wanted)
	p.Same = b.plan(n.schedule(wanted), max(n.Jobs, 1), n.Runners)
	runners := n.Runners
	if len(w.Runners) > 0 {
		runners = w.Runners
	}
	p.Planned = b.plan(n.schedule(wanted), max(cmp.Or(w.Jobs, n.Jobs), 1), runners)
	p.Unknown = b.unknown(w)
	return p, nil
}

// recorded returns what the night has taken.
func (n *Night) recorded() Figures {
	f := Figures{Jobs: n.Jobs, Runners: n.Runners, Minutes: n.Ended.Sub(n.Began).Minutes(), CostUSD: n.Usage.CostUSD}
	takes := map[string]float64{}
	for id, tries := range n.tries {
		for _, t := range tries {
			takes[id] += t.minutes
		}
		if n.ends[id] == completed {
			f.Completed++
		}
	}
	f.CriticalPath, f.PathMinutes = longestPath(n.graph, takes)
	return round(f)
}

// basis holds the inputs of a simulation.
type basis struct {
	night  *Night
	tries  map[string][]try // without those that failed through a provider or were stopped
	mean   float64          // minutes of a point
	faults int              // attempts that are left out …
	lost   float64          // … and their minutes
	guess  []string         // tasks that never came to an end in the night
	cost   float64          // what is spent besides attempts that are planned
}

// basis leaves out of the night what belongs to its time: attempts that failed through their provider, or were stopped.
func (n *Night) basis(wanted []bool) *basis {
	b := &basis{night: n, tries: map[string][]try{}, cost: n.Usage.CostUSD}
	all, minutes := 0.0, 0.0
	for i := range n.graph.Len() {
		id := n.graph.ID(i)
		for _, t := range n.tries[id] {
			if t.minutes == 0 || verdict.ClassOf(t.outcome).Transient {
				b.faults++
				b.lost += t.minutes
				continue
			}
			b.tries[id] = append(b.tries[id], t)
			b.cost -= t.usd
			if n.ends[id] == completed {
				minutes += t.minutes
			}
		}
		if n.ends[id] == completed {
			all += n.epic.Tasks[i].Weight()
		}
		if n.ends[id] == left && (wanted == nil || wanted[i]) && !n.before.Task(id).Completed && n.before.Task(id).Gate == nil {
			b.guess = append(b.guess, id)
		}
	}
	if all > 0 {
		b.mean = minutes / all
	}
	return b
}

// plan plans the night once.
func (b *basis) plan(s *schedule.Schedule, jobs int, runners []string) Figures {
	f := Figures{Jobs: jobs, Runners: runners, CostUSD: b.cost}
	done, takes := map[string]int{}, map[string]float64{}
	f.Minutes = schedule.Simulate(s, jobs, func(i int) (float64, schedule.Ending) {
		id := b.night.graph.ID(i)
		at := done[id]
		done[id]++
		minutes, ends := b.attempt(i, at)
		if at < len(b.tries[id]) {
			f.CostUSD += b.tries[id][at].usd
		}
		if ends == schedule.Completes {
			f.Completed++
		}
		takes[id] += minutes
		return minutes, ends
	})
	f.CriticalPath, f.PathMinutes = longestPath(b.night.graph, takes)
	return round(f)
}

// attempt returns how long an attempt of a planned night takes, and how it ends.
func (b *basis) attempt(i, at int) (float64, schedule.Ending) {
	id := b.night.graph.ID(i)
	tries := b.tries[id]
	switch {
	case at >= len(tries) && b.night.ends[id] == gated:
		return 0, schedule.Fails
	case at >= len(tries): // it never came to its end: that it will is a guess
		return b.mean * b.night.epic.Tasks[i].Weight(), schedule.Completes
	case at < len(tries)-1 || b.night.ends[id] == left:
		return tries[at].minutes, schedule.Repeats
	case b.night.ends[id] == gated:
		return tries[at].minutes, schedule.Fails
	}
	return tries[at].minutes, schedule.Completes
}

// unknown says what the plan cannot know.
func (b *basis) unknown(w WhatIf) []string {
	list := []string{"other outcomes than those recorded, and usage limits that would be reached earlier or later"}
	if b.faults > 0 {
		list = append(list, fmt.Sprintf("%s that failed through a provider, or did not come to an end, are left out: %s",
			plaintext.Count(b.faults, "attempt"), plaintext.Count(int(math.Round(b.lost)), "minute")))
	}
	if len(b.guess) > 0 {
		list = append(list, "these came to no end in that night, and are planned with the mean of the others: "+plaintext.Some(b.guess, mostTasks))
	}
	if strange := b.strangers(w.Runners); len(strange) > 0 {
		list = append(list, "never run with "+strings.Join(w.Runners, " or ")+", and planned with their recorded times and costs: "+plaintext.Some(strange, mostTasks))
	}
	return list
}

// strangers are the tasks that none of the runners has had.
func (b *basis) strangers(runners []string) (ids []string) {
	if len(runners) == 0 {
		return nil
	}
	for i := range b.night.graph.Len() {
		id := b.night.graph.ID(i)
		named := b.night.epic.Tasks[i].Runner != "" // the order of runners does not matter for it
		had := slices.ContainsFunc(b.tries[id], func(t try) bool { return slices.Contains(runners, t.runner) })
		if len(b.tries[id]) > 0 && !had && !named {
			ids = append(ids, id)
		}
	}
	return ids
}

func round(f Figures) Figures {
	f.Minutes, f.PathMinutes = math.Round(f.Minutes*10)/10, math.Round(f.PathMinutes*10)/10
	f.CostUSD = math.Round(max(f.CostUSD, 0)*1e4) / 1e4
	return f
}

// Lines returns the plan as a person reads it.
func (p *Plan) Lines() []string {
	lines := []string{
		"run " + p.Run + ": " + p.Recorded.line(),
		"simulated with its own settings: " + p.Same.line(),
		"simulated with these settings: " + p.Planned.line(),
	}
	if len(p.Planned.CriticalPath) > 0 {
		lines = append(lines, fmt.Sprintf("critical path, recorded: %s; planned: %s", p.Recorded.path(), p.Planned.path()))
	}
	lines = append(lines, each.Of(p.Damage, func(what string) string { return "damaged: " + what })...)
	return append(lines, each.Of(p.Unknown, func(u string) string { return "not known: " + u })...)
}

func (f *Figures) line() string {
	cost := "unknown cost"
	if f.CostUSD > 0 {
		cost = fmt.Sprintf("%.2f USD", f.CostUSD)
	}
	line := fmt.Sprintf("%.1f min, %s, %d completed, %s", f.Minutes, cost, f.Completed, plaintext.Count(f.Jobs, "job"))
	if len(f.Runners) > 0 {
		line += ", " + strings.Join(f.Runners, ", ")
	}
	return line
}

// mostPath is how many tasks of a critical path are named.
const mostPath = 20

func (f *Figures) path() string {
	if len(f.CriticalPath) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s, %.1f min", plaintext.Some(f.CriticalPath, mostPath), f.PathMinutes)
}

// Night is a recorded run as far as planning it with other settings needs that.
type Night struct {
	Run          string
	Began, Ended time.Time // Ended is the last event of a run that did not stop by itself
	Jobs         int
	Runners      []string // in order of preference; none: the log does not say
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

// fate is the result of a task in a run.
type fate uint8

const (
	left fate = iota
	completed
	gated
)

// ErrNoSuchRun means that the log has no event of a run.
var ErrNoSuchRun = errors.New("the event log has nothing of that run")

// ReadNight reads a run from the events of its epic. e is its plan.
func ReadNight(run string, e *epic.Epic, g *epic.Graph, events func(func(attempts.Event) error) error) (*Night, error) {
	n := &Night{Run: run, epic: e, graph: g, before: attempts.NewMemory(g, nil), tries: map[string][]try{}, ends: map[string]fate{}}
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
			n.Runners = s.Rules.Runners
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

// leastMinutes is the duration of an attempt that took less than a millisecond.
const leastMinutes = 1.0 / 60_000

// schedule is that of the run when it began.
func (n *Night) schedule(wanted []bool) (s *schedule.Schedule) {
	n.before.View(func(l *attempts.Ledger) {
		s = schedule.New(n.epic, n.graph, l, wanted)
	})
	return s
}

// longestPath returns the tasks that depend on each other and take longest together, the first of them first, and their minutes.
func longestPath(g *epic.Graph, takes map[string]float64) (ids []string, minutes float64) {
	ids = []string{}
	for _, i := range g.Heaviest(func(i int) float64 { return takes[g.ID(i)] }) {
		if id := g.ID(i); takes[id] > 0 {
			ids, minutes = append(ids, id), minutes+takes[id]
		}
	}
	return ids, minutes
}

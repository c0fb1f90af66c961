package status

import (
	"cmp"
	"slices"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/report"
	"relay/orchestrator/schedule"
	"relay/orchestrator/view"
)

// Forecast estimates when a run will end, or would if it began now.
type Forecast = view.Forecast

// estimate adds an estimate of the end, if tasks are left and completed tasks say how long one takes.
func (s *Report) estimate(p *project.Project, now time.Time) {
	o := s.outlook
	if s.Run.State == report.Running {
		o.Now, o.Tasks = now, s.outlook.Ledger.Chosen
	}
	if !s.Run.Until.IsZero() {
		o.Until = max(s.Run.Until.Sub(now), 1)
	}
	o = withSettings(p, o, now)
	f, err := o.Forecast()
	if f == nil || err != nil { // it is an estimate, not worth an error
		return
	}
	at := func(d time.Duration) time.Time { return now.Add(d).UTC().Truncate(time.Second) }
	s.Forecast = &Forecast{
		P10: at(f.P10), P50: at(f.P50), P90: at(f.P90), USD: f.USD, InTime: f.InTime, BasedOn: f.BasedOn, Tasks: f.Tasks, LeftOut: f.LeftOut,
		Jobs: o.Jobs, Of: o.Tasks,
	}
}

// sayForecast adds the forecast in words.
func (s *Report) sayForecast(p *project.Project, now time.Time) {
	if s.Forecast == nil {
		return
	}
	n := s.model.Night(now)
	n.Forecast, n.Money = s.Forecast, view.MoneyOf(s.outlook.Epic, s.outlook.Ledger, []string{s.Run.ID}, project.Budget(p.Config))
	s.Ahead = n.Ahead(time.Local)
}

// ForecastOf estimates when the current run of a plan ends, by a ledger that is up to date; nil: too little is known.
func ForecastOf(p *project.Project, pl *project.Plan, l *attempts.Ledger, jobs int, now time.Time) *Forecast {
	s := Report{Run: Run{State: report.Running, Until: l.Until}}
	s.outlook = schedule.Estimator{Epic: pl.Epic, Graph: pl.Graph, Ledger: l, Jobs: jobs}
	s.estimate(p, now)
	return s.Forecast
}

// withSettings adds what the configuration says of a run, and since when which agents may be asked.
func withSettings(p *project.Project, o schedule.Estimator, now time.Time) schedule.Estimator {
	isolation := engine.Isolation(p.Config.Relay.Isolation)
	switch {
	case isolation == engine.IsolationNone && o.Now.IsZero():
		o.Jobs = 1
	case o.Jobs == 0:
		o.Jobs = max(p.Config.Relay.Jobs, 1)
	case o.Ledger.Slots > 0 && !o.Now.IsZero():
		o.Jobs = min(o.Jobs, o.Ledger.Slots)
	}
	rest := func(name string) time.Duration { return cooldownOf(o.Ledger, name, now) }
	for _, name := range p.Agents.Reviewers() {
		o.Panel = max(o.Panel, rest(name))
	}
	first := time.Duration(0) // before it nothing starts
	if isolation != engine.IsolationWorktree {
		first = o.Panel
	}
	if w := o.Ledger.Waiting; w != nil && !o.Now.IsZero() && rest(w.For) > 0 {
		first = max(first, w.Until.Sub(now))
	}
	o.Opens = func(t *epic.Task) time.Duration {
		_, open := chooseRunner(p, t, rest)
		return max(first, open)
	}
	return o
}

// cooldownOf returns how long a run that begins now waits before it asks a runner. A runner that has refused is asked at once.
func cooldownOf(l *attempts.Ledger, name string, now time.Time) time.Duration {
	c := l.Cooldowns[name]
	if c.Refused() {
		return 0
	}
	return max(c.Until.Sub(now), 0)
}

// chooseRunner returns the runner of a task that may be asked first, by how long each has to wait, and how long it has.
func chooseRunner(p *project.Project, t *epic.Task, rest func(name string) time.Duration) (runner string, wait time.Duration) {
	names := p.Config.Relay.Runners
	if t.Runner != "" {
		names = []string{t.Runner}
	}
	for k, name := range names {
		if r := rest(name); k == 0 || r < wait {
			runner, wait = name, r
		}
	}
	return runner, wait
}

// Cooldown is a runner that is not to be asked before a time.
type Cooldown struct {
	Runner string    `json:"runner"`
	Until  time.Time `json:"until"`
	Why    string    `json:"why,omitempty"`
}

// AddCooldowns adds what keeps tasks from starting although they could.
func (s *Report) AddCooldowns(now time.Time) {
	l := s.outlook.Ledger
	if s.Counts.Completed == s.Counts.Total {
		return
	}
	if s.Run.State == report.Running {
		s.Waiting = l.Waiting
	}
	for name, c := range l.Cooldowns {
		if c.Until.After(now) && (s.Run.State == report.Running || !c.Refused()) { // the next run asks whoever has refused
			s.Cooldowns = append(s.Cooldowns, Cooldown{name, c.Until, c.Why})
		}
	}
	slices.SortFunc(s.Cooldowns, func(a, b Cooldown) int { return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Runner, b.Runner)) })
}

package status

import (
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/view"
)

// Builder returns the model of a night that all views show, of the run that ends it; "" is the newest. It has read all logs, and knows
// the last event in them.
func Builder(p *project.Project, pl *project.Plan, v *attempts.View, run string) (*view.Builder, error) {
	f := &Follower{Model: view.New(Input(p, pl, v, run)), tail: attempts.NewTail(p.Dir)}
	_, _, err := f.take(nil)
	return f.Model, err
}

// Input returns what a builder of the model begins with. Without the events of the logs it lacks notes, the timeline and earlier runs.
func Input(p *project.Project, pl *project.Plan, v *attempts.View, run string) view.Input {
	return view.Input{
		Epic: pl.Epic, Graph: pl.Graph, Ledger: v.Ledger, Run: run, Running: v.Running, MaxAttempts: p.Config.Relay.MaxAttemptsPerTask,
		Caps: project.Budget(p.Config), Flag: p.EpicFlag(), Refused: ForReport(Refusing(p, pl, v.Ledger)),
	}
}

// AddNight adds the model of the night to a report, with its pictures.
func AddNight(s *Report, p *project.Project, now time.Time) error {
	b, err := Builder(p, &project.Plan{Epic: s.outlook.Epic, Graph: s.outlook.Graph}, s.of, "")
	if err != nil {
		return err
	}
	s.Night = b.Night(now)
	s.Night.Graph, s.Night.Timeline, s.Night.Forecast = b.Graph(now), b.Timeline(now), s.Forecast
	return nil
}

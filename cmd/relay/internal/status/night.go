package status

import (
	"errors"
	"io/fs"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/view"
)

// Builder returns the model of a night that all views show, of the run that ends it; "" is the newest. It has read all logs, and knows
// the last event in them.
func Builder(p *project.Project, pl *project.Plan, v *attempts.View, run string) (*view.Builder, error) {
	b := view.New(input(p, pl, v, run))
	err := attempts.Replay(p.Dir, func(e attempts.Event) error {
		b.Apply(&e)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // an epic that was written by hand has none yet
	}
	return b, err
}

func input(p *project.Project, pl *project.Plan, v *attempts.View, run string) view.Input {
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

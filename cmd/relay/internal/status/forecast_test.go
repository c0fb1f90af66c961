package status

import (
	"testing"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/configs"
)

func configured(isolation string, jobs int) *project.Project {
	p := &project.Project{Config: &configs.Config{}}
	p.Config.Relay.Isolation, p.Config.Relay.Jobs = isolation, jobs
	p.Agents = project.NewAgents("", nil, p.Config, nil)
	return p
}

// finishLine says when it ends, as if enough tasks were done to judge by.
func finishLine(s *Report, now time.Time) string {
	if s.Forecast == nil {
		return ""
	}
	s.Forecast.BasedOn = 3
	n := s.model.Night(now)
	n.Forecast = s.Forecast
	return n.Ahead(time.Local)
}

func TestFinishEstimate(t *testing.T) {
	t.Parallel()
	pl, v := mixed(t)
	v.Holder.Since = v.Holder.Since.Local() // the clock of whoever looks
	start := time.Date(2026, 1, 2, 23, 59, 0, 0, time.Local)
	move := start.Sub(v.Holder.Since)
	for _, rec := range v.Ledger.Tasks {
		for i := range rec.Attempts {
			a := &rec.Attempts[i]
			if a.StartedAt = a.StartedAt.Add(move); !a.EndedAt.IsZero() {
				a.EndedAt = a.StartedAt.Add(time.Hour)
			}
		}
	}
	dead := *v
	dead.Running = false
	alone := *v
	alone.Jobs = 1
	for name, c := range map[string]struct {
		view *attempts.View
		now  time.Time
		want string
	}{
		"just begun":    {v, start, "rest done about 03:32 (01:08 to 09:31), $2 (1 to 6)"},
		"a while later": {v, start.Add(time.Hour), "rest done about 04:31 (02:08 to 09:51), $3 (1 to 6)"},
		"one at a time": {&alone, start, "rest done about 04:57 (01:42 to 11:46), $2 (1 to 6)"},
		"not running":   {&dead, start, "rest done in about 3h34m (1h10m to 9h32m) with 2 jobs, $2 (1 to 6)"},
	} {
		s := New(pl, c.view, 3, false)
		s.estimate(configured("worktree", 2), c.now)
		s.sayForecast(configured("worktree", 2), c.now)
		if got := finishLine(s, c.now); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	until := func(t time.Time) *attempts.View {
		ledger := *v.Ledger
		ledger.Until = t
		return &attempts.View{Ledger: &ledger, Running: true, Holder: v.Holder}
	}
	limited := until(time.Time{})
	limited.Ledger.Cooldowns = map[string]attempts.Cooldown{"codex": {Runner: "codex", Until: start.Add(12 * time.Hour)}, "claude": {Runner: "claude", Until: start.Add(4 * time.Hour)}}
	starved := until(time.Time{})
	starved.Ledger.Cooldowns = limited.Ledger.Cooldowns
	starved.Ledger.Waiting = &attempts.Waiting{For: "codex", Until: start.Add(12 * time.Hour)}
	paused := until(time.Time{})
	paused.Ledger.Paused = start
	chosen := until(time.Time{})
	chosen.Ledger.Chosen = []string{"T2"}
	for name, c := range map[string]struct {
		view *attempts.View
		want string
	}{
		"it ends too early":      {until(start.Add(2 * time.Hour)), "about 4 of 8 done by 01:59 (2 to 5)"},
		"it may end too soon":    {until(start.Add(4 * time.Hour)), "rest done about 03:32 (01:08 to 09:31), $2 (1 to 6)"},
		"every agent is limited": {limited, "rest done about 06:22 (04:38 to 11:19), $2 (1 to 6)"},
		"it is paused":           {paused, "rest done in about 3h34m (1h10m to 9h32m) with 2 jobs, $2 (1 to 6)"},
		"it waits":               {starved, "rest done about 14:10 (12:38 to 18:51), $2 (1 to 6)"},
		"one task":               {chosen, "T2 done about 01:13 (00:18 to 04:32), $1 (0 to 2)"},
	} {
		p := configured("worktree", 2)
		p.Config.Relay.Runners = []string{"codex", "claude"}
		s := New(pl, c.view, 3, false)
		s.AddCooldowns(start)
		s.estimate(p, start)
		s.sayForecast(p, start)
		if got := finishLine(s, start); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	for i := range pl.Epic.Tasks {
		v.Ledger.Tasks[pl.Epic.Tasks[i].ID] = v.Ledger.Tasks["T1"]
	}
	s := New(pl, v, 3, false)
	if s.estimate(configured("worktree", 2), start); s.Forecast != nil || finishLine(s, start) != "" {
		t.Errorf("all is done, and there is a forecast: %+v", s.Forecast)
	}
}

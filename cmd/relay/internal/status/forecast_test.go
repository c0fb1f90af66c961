package status

import (
	"bytes"
	"strings"
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

// finishLine is what status says of the time a run still takes.
func finishLine(s *Report, now time.Time) string {
	var text bytes.Buffer
	Write(&text, s, Printer{Now: now, Width: 200})
	for row := range strings.Lines(text.String()) {
		if strings.HasPrefix(row, "finish") || strings.HasPrefix(row, "left") {
			return strings.TrimSpace(row)
		}
	}
	return ""
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
		"just begun":    {v, start, "finish about 03:32, by 09:31 in nine of ten cases (estimated from 2 tasks done); without 3 tasks held up by gates"},
		"a while later": {v, start.Add(time.Hour), "finish about 04:31, by 09:51 in nine of ten cases (estimated from 2 tasks done); without 3 tasks held up by gates"},
		"one at a time": {&alone, start, "finish about 04:57, by 11:46 in nine of ten cases (estimated from 2 tasks done); without 3 tasks held up by gates"},
		"not running":   {&dead, start, "left   about 3h34m with 2 jobs, up to 9h32m in nine of ten cases (estimated from 2 tasks done); without 3 tasks held up by gates"},
	} {
		s := New(pl, c.view, 3, false)
		s.AddForecast(configured("worktree", 2), c.now)
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
		"it ends too early":   {until(start.Add(2 * time.Hour)), "finish not all by 01:59; about 1h34m more, up to 7h32m in nine of ten cases (estimated from 2 tasks done); without 3 tasks held up by gates"},
		"it may end too soon": {until(start.Add(4 * time.Hour)), "finish about 03:32, by 09:31 in nine of ten cases, but the run ends at 03:59 (estimated from 2 tasks done); without 3 tasks held up by gates"},
		"nobody can be asked": {limited, "finish about 06:22, by 11:19 in nine of ten cases (estimated from 2 tasks done); without 3 tasks held up by gates"},
		"it is paused":        {paused, "left   about 3h34m with 2 jobs, up to 9h32m in nine of ten cases (estimated from 2 tasks done); without 3 tasks held up by gates"},
		"it waits":            {starved, "finish about 14:10, by 18:51 in nine of ten cases (estimated from 2 tasks done); without 3 tasks held up by gates"},
		"one task":            {chosen, "finish about 01:13, by 04:32 in nine of ten cases (estimated from 2 tasks done); only T2 and what that needs"},
	} {
		p := configured("worktree", 2)
		p.Config.Relay.Runners = []string{"codex", "claude"}
		s := New(pl, c.view, 3, false)
		s.AddCooldowns(start)
		s.AddForecast(p, start)
		if got := finishLine(s, start); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	for i := range pl.Epic.Tasks {
		v.Ledger.Tasks[pl.Epic.Tasks[i].ID] = v.Ledger.Tasks["T1"]
	}
	s := New(pl, v, 3, false)
	if s.AddForecast(configured("worktree", 2), start); s.Forecast != nil || finishLine(s, start) != "" {
		t.Errorf("all is done, and there is a forecast: %+v", s.Forecast)
	}
}

func TestRoughly(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 4600 * time.Millisecond: "5s", 90 * time.Second: "2m", 59*time.Minute + 40*time.Second: "1h00m", 26*time.Hour + 5*time.Minute: "26h05m", 100 * time.Hour: "4 days",
	} {
		if got := formatEstimate(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}

// How long a run will still take is told with a mark that it is estimated, and not from too few tasks.
func TestRemaining(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 2, 0, 0, 0, time.Local)
	until := now.Add(time.Hour)
	for name, c := range map[string]struct {
		f    *Forecast
		want string
	}{
		"none":         {nil, ""},
		"two done":     {&Forecast{P50: now.Add(time.Hour), BasedOn: 2}, ""},
		"a while":      {&Forecast{P50: now.Add(130 * time.Minute), BasedOn: 3}, "about 2h10m left, done ~04:10"},
		"gates":        {&Forecast{P50: now.Add(time.Minute), BasedOn: 3, LeftOut: 41}, "about 1m left, done ~02:01 but for 41 tasks held up by gates"},
		"days":         {&Forecast{P50: now.Add(30 * time.Hour), BasedOn: 3}, "about 30h00m left, done ~Sat 2026-01-03 08:00"},
		"over by now":  {&Forecast{P50: now.Add(-time.Second), BasedOn: 3}, ""},
		"the deadline": {&Forecast{P50: now.Add(130 * time.Minute), BasedOn: 3, Until: until}, "not all by 03:00, about 1h10m more"},
		"in time":      {&Forecast{P50: now.Add(30 * time.Minute), BasedOn: 3, Until: until}, "about 30m left, done ~02:30"},
	} {
		if got := Remaining(c.f, now); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

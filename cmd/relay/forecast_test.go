package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/configs"
)

func configured(isolation string, jobs int) *place {
	p := &place{config: &configs.Config{}}
	p.config.Relay.Isolation, p.config.Relay.Jobs = isolation, jobs
	return p
}

// finishLine is what status says of the time a run still takes.
func finishLine(s *standing, now time.Time) string {
	var text bytes.Buffer
	tellStanding(&text, s, listing{now: now, width: 200})
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
		"just begun":    {v, start, "finish about 02:45, by 07:51 in nine of ten cases (going by 2 tasks done); without 3 tasks held up by gates"},
		"a while later": {v, start.Add(time.Hour), "finish about 03:52, by 08:28 in nine of ten cases (going by 2 tasks done); without 3 tasks held up by gates"},
		"one at a time": {&alone, start, "finish about 03:41, by 10:02 in nine of ten cases (going by 2 tasks done); without 3 tasks held up by gates"},
		"not running":   {&dead, start, "left   about 2h47m of work, up to 7h53m in nine of ten cases (going by 2 tasks done); without 3 tasks held up by gates"},
	} {
		s := stand(pl, c.view, 3, false)
		s.foresee(configured("worktree", 2), c.now)
		if got := finishLine(s, c.now); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	for i := range pl.epic.Tasks {
		v.Ledger.Tasks[pl.epic.Tasks[i].ID] = v.Ledger.Tasks["T1"]
	}
	s := stand(pl, v, 3, false)
	if s.foresee(configured("worktree", 2), start); s.Forecast != nil || finishLine(s, start) != "" {
		t.Errorf("all is done, and there is a forecast: %+v", s.Forecast)
	}
}

func TestRoughly(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 4600 * time.Millisecond: "5s", 90 * time.Second: "2m", 59*time.Minute + 40*time.Second: "1h00m", 26*time.Hour + 5*time.Minute: "26h05m", 100 * time.Hour: "4 days",
	} {
		if got := roughly(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"relay/orchestrator"
)

// forecast is when a run will be over, or would be if it began now.
type forecast struct {
	P50     time.Time `json:"p50"` // half of all runs like this one are over by then
	P90     time.Time `json:"p90"` // nine of ten are
	BasedOn int       `json:"based_on"`
	Tasks   int       `json:"tasks"`
	LeftOut int       `json:"left_out"`
	Jobs    int       `json:"jobs"`

	rest, long time.Duration // the same from now on
}

// foresee adds a forecast to a standing, if there is anything left to do and anything to go by.
func (s *standing) foresee(p *place, now time.Time) {
	o := p.outlook(s.outlook)
	if s.Run.State == runOn {
		o.Now = now
		if s.outlook.Jobs > 0 {
			o.Jobs = s.outlook.Jobs
		}
	}
	f, err := o.Forecast()
	if f == nil || err != nil { // it is an estimate, not worth an error
		return
	}
	at := func(d time.Duration) time.Time { return now.Add(d).UTC().Truncate(time.Second) }
	s.Forecast = &forecast{at(f.P50), at(f.P90), f.BasedOn, f.Tasks, f.LeftOut, o.Jobs, f.P50, f.P90}
}

// outlook adds what the configuration says of a run.
func (p *place) outlook(o orchestrator.Outlook) orchestrator.Outlook {
	isolation := orchestrator.Isolation(p.config.Relay.Isolation)
	o.Leases = isolation == orchestrator.IsolationWorktree
	if o.Jobs = max(p.config.Relay.Jobs, 1); isolation == orchestrator.IsolationNone {
		o.Jobs = 1
	}
	return o
}

// forecast says when a run will be over or, when none is on, how much there is left.
func (l listing) forecast(w io.Writer, s *standing) {
	f, word := s.Forecast, "finish"
	text := fmt.Sprintf("about %s, by %s in nine of ten cases", l.coming(f.P50), l.coming(f.P90))
	if s.Run.State != runOn {
		word, text = "left", fmt.Sprintf("about %s of work, up to %s in nine of ten cases", roughly(f.rest), roughly(f.long))
	}
	text += fmt.Sprintf(" (going by %s done)", count(f.BasedOn, "task"))
	if f.LeftOut > 0 {
		text += "; without " + count(f.LeftOut, "task") + " held up by gates"
	}
	fmt.Fprintf(w, "%-6s %s\n", word, strings.TrimLeft(wrap(text, l.width, "       "), " "))
}

// coming shows a time that is near by the clock alone, although it may be tomorrow.
func (l listing) coming(t time.Time) string {
	if t.Sub(l.now) < 20*time.Hour {
		return t.Local().Format("15:04")
	}
	return moment(t, l.now)
}

// roughly shows a duration that is only an estimate: 5s, 40m, 3h20m, 12 days.
func roughly(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.0fs", max(d, 0).Seconds())
	}
	minutes := int(d.Round(time.Minute).Minutes())
	if minutes < 60 {
		return fmt.Sprintf("%dm", minutes)
	}
	if minutes < 100*60 {
		return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

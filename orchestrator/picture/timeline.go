package picture

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// Sizes of the timeline in pixels.
const (
	jobHeight = 64.0
	top       = 26.0
	wide      = 700.0 // of the timeline on a screen, at least; a label that does not fit then is left out
	slim      = 340.0 // and on a phone
	narrow    = 0.15  // percent: about a pixel
)

// timeline is a timeline while it is drawn.
type timeline struct {
	canvas
	o    Options
	of   *view.Timeline
	long time.Duration
	thin map[int]float64 // by job: where the last attempt is that is too short to be seen alone
}

// Timeline draws the jobs of a night: attempts with their checks and reviews, waits, and landings. Its x are percents: it narrows, and
// its text does not shrink. It returns "" when nothing has happened.
func Timeline(t *view.Timeline, o Options) string {
	if len(t.Spans) == 0 {
		return ""
	}
	d := timeline{o: o, of: t, long: max(t.To.Sub(t.From), time.Second), thin: map[int]float64{}}
	if o.Zone == nil {
		d.o.Zone = time.UTC
	}
	waits := slices.ContainsFunc(t.Spans, func(s view.Span) bool { return s.Task == "" })
	rows := float64(t.Jobs)
	if waits {
		rows += 0.7
	}
	height := top + rows*jobHeight + 34
	label := fmt.Sprintf("Timeline from %s to %s, %s: attempts, checks, reviews, waits and landings.",
		d.clock(t.From), d.clock(t.To), plaintext.Count(t.Jobs, "job"))
	d.hours(height)
	for job := 1; job <= t.Jobs; job++ {
		crowded := func(s view.Span) bool { return s.Job == job && s.Result == attempts.ResultFailure && d.at(s.To) < 8 }
		if !slices.ContainsFunc(t.Spans, crowded) { // a mark stands there
			d.draw(`<text class="d" x="0" y="%v">job %v</text>`, top+float64(job-1)*jobHeight+8, job)
		}
	}
	if waits {
		d.draw(`<text class="d" x="0" y="%v">waits</text>`, top+float64(t.Jobs)*jobHeight+8)
		d.draw(`<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="h" d="M0 0v6"/></pattern>`)
	}
	for i := range t.Spans {
		if s := &t.Spans[i]; d.visible(s) {
			d.span(s)
		}
	}
	d.landings(height - 28)
	return d.o.finish(&d.canvas, "t", label, wide, height)
}

func (d *timeline) clock(at time.Time) string { return at.In(d.o.Zone).Format("15:04") }

// at returns where a time is, in percent.
func (d *timeline) at(t time.Time) float64 {
	return min(max(100*float64(t.Sub(d.of.From))/float64(d.long), 0), 100)
}

// hours draws a line and the time each full hour, or every few of them.
func (d *timeline) hours(height float64) {
	step := time.Hour
	for d.long/step > 12 {
		step *= 2
	}
	many := d.long/step > 5
	for at, class := d.of.From.In(d.o.Zone).Truncate(time.Hour), "d"; !at.After(d.of.To); at = at.Add(step) {
		if at.Before(d.of.From) {
			continue
		}
		x, anchor := d.at(at), "middle"
		switch {
		case x < 3:
			anchor = "start"
		case x > 97:
			anchor = "end"
		}
		d.draw(`<line class="grid" x1="%v%%" x2="%v%%" y1="16" y2="%v"/>`, x, x, height)
		d.draw(`<text class="%s" x="%v%%" y="11" text-anchor="%s">%s</text>`, class, x, anchor, d.clock(at))
		if class += " sm"; class != "d sm" || !many {
			class = "d"
		}
	}
}

// visible reports whether a span has a pixel of its own: of attempts in the same pixel the first has it, and those that failed.
func (d *timeline) visible(s *view.Span) bool {
	x, before := d.at(s.From), d.thin[s.Job]
	switch {
	case d.at(d.end(s))-x >= narrow:
		return true
	case s.Kind != view.SpanAttempt, before > 0 && x-before < narrow && s.Result != attempts.ResultFailure:
		return false
	}
	d.thin[s.Job] = x
	return true
}

func (d *timeline) end(s *view.Span) time.Time { return cmp.Or(s.To, d.of.To) }

// span draws one span in the row of its job.
func (d *timeline) span(s *view.Span) {
	end := d.end(s)
	x, y := d.at(s.From), top+float64(max(s.Job-1, 0))*jobHeight
	width := max(d.at(end)-x, 0.1)
	class := ""
	switch {
	case s.To.IsZero():
		class = " working"
	case s.Result == attempts.ResultFailure:
		class = " needs"
	}
	title := fmt.Sprintf("%s %s %s to %s", s.Task, s.Agent, d.clock(s.From), d.clock(end))
	if s.Why != "" {
		title += ": " + s.Why
	}
	rect := func(class string, y, height float64) {
		d.draw(`<rect class="%s" x="%v%%" y="%v" width="%v%%" height="%v"><title>%s</title></rect>`, class, x, y, width, height, string(s.Kind)+" "+title)
	}
	switch s.Kind {
	case view.SpanAttempt:
		link := d.o.node(&d.canvas, s.Task, "", title)
		rect("w"+class, y+14, 26)
		d.text(s.Task, "", x, width, y+31)
		d.text(s.Agent, "d", x, width, y+51)
		d.draw("%s", raw(link))
		if s.Result == attempts.ResultFailure {
			d.draw(`<svg x="%v%%" y="%v" overflow="visible"><path class="x" d="M-7-4 1 4M1-4-7 4"/></svg>`, x+width, y+5)
		}
	case view.SpanChecks:
		rect("k"+class, y+14, 26)
	case view.SpanReview:
		rect("v"+class, y+28, 12)
	case view.SpanWait, view.SpanCool, view.SpanPause:
		y = top + float64(d.of.Jobs)*jobHeight
		rect("hatch", y+14, 12)
		d.text(cmp.Or(s.Agent, string(s.Kind)), "d", x, width, y+38)
	case view.SpanLanding: // a tick below the jobs
	}
}

// text writes a label where it fits, at least on a screen.
func (d *timeline) text(label, class string, x, width, y float64) {
	need := 100 * (float64(len(label))*letter + 6)
	if need > width*slim {
		class += " sm"
	}
	if need <= width*wide {
		d.draw(`<text class="%s" x="%v%%" dx="3" y="%v">%s</text>`, class, x, y, label)
	}
}

// landings draw a tick for each task that has landed, and count them.
func (d *timeline) landings(y float64) {
	var landed []time.Time
	for _, s := range d.of.Spans {
		if s.Kind == view.SpanLanding && s.Result == attempts.ResultSuccess {
			landed = append(landed, s.To)
		}
	}
	if len(landed) == 0 {
		return
	}
	d.draw(`<text class="d" x="0" y="%v">%v landed</text>`, y+10, len(landed))
	for _, at := range landed {
		d.draw(`<rect class="l" x="%v%%" y="%v" width="1.5" height="14"/>`, d.at(at), y+14)
	}
}

package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/picture"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// detail is a task as its own page, or its opened row, shows it.
type detail struct {
	*Detail
	o *Options
}

func newDetail(d *Detail, o *Options) *detail {
	if d.Record == nil {
		d.Record = &attempts.TaskRecord{}
	}
	return &detail{d, o}
}

// Head returns the row as lists show it.
func (d *detail) Head() *row { return &row{d.Row, d.o, d.Row.State.Group()} }

// Ran says who worked at an attempt, and how it ended.
func (d *detail) Ran(a *attempts.Attempt) string {
	said := strings.TrimSpace(a.Runner + " " + a.Model)
	if !a.StartedAt.IsZero() {
		said += ", " + d.o.clock(a.StartedAt) + "–"
		if !a.EndedAt.IsZero() {
			said += d.o.clock(a.EndedAt)
		}
	}
	if a.Usage != nil && a.Usage.CostUSD > 0 {
		said += ", " + USD(a.Usage.CostUSD) + " USD"
	}
	return strings.TrimPrefix(said, ", ")
}

// Ended says how an attempt ended.
func (d *detail) Ended(a *attempts.Attempt) string {
	switch {
	case a.Result == attempts.ResultInProgress:
		return "running"
	case a.Result == attempts.ResultSuccess && a.Landed != "":
		return "landed"
	case a.Result == attempts.ResultSuccess:
		return "done"
	}
	return plaintext.FirstOf(string(a.Outcome), string(a.Result)) + ", " + report.ChargeText(a.Charged)
}

// Said is what an attempt has to say: its error, or the summary of its agent.
func (d *detail) Said(a *attempts.Attempt) string {
	if a.Result != attempts.ResultSuccess && a.Receipt.ErrorSummary != "" {
		return a.Receipt.ErrorSummary
	}
	return a.Receipt.Summary
}

// Check says how a check went.
func (d *detail) Check(c *attempts.CheckRun) string {
	said := plaintext.ExitText(c.ExitCode)
	if c.RanTests > 0 {
		said += ", " + plaintext.Count(c.RanTests, "test")
	}
	if c.Seconds > 0 {
		said += ", " + plaintext.Span(time.Duration(c.Seconds*float64(time.Second)))
	}
	return said
}

// Commits names the commits of the newest work.
func (d *detail) Commits() string {
	if d.Row.Head == "" {
		return ""
	}
	said := fmt.Sprintf("%.9s..%.9s", d.Row.Base, d.Row.Head)
	if d.Row.Landed != "" {
		said += fmt.Sprintf(", landed as %.9s", d.Row.Landed)
	}
	return said
}

// functions are what templates may call.
func functions() map[string]any {
	return map[string]any{
		"usd": USD, "span": Span, "lines": Lines, "class": class, "icon": icon, "count": plaintext.Count, "states": view.States,
		"path": picture.Symbol, "half": func(width float64) float64 { return width / 2 }, "listed": plaintext.Some,
		"add": func(a, b float64) float64 { return a + b }, "percent": func(f float64) string { return fmt.Sprintf("%.2f%%", f) },
	}
}

func (o *Options) zone() *time.Location {
	if o.Zone == nil {
		return time.UTC
	}
	return o.Zone
}

func (o *Options) clock(t time.Time) string { return t.In(o.zone()).Format("15:04") }

func (o *Options) day(t time.Time) string { return t.In(o.zone()).Format("2 Jan") }

// USD writes money; "": unknown.
func USD(cost float64) string {
	if cost == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", cost)
}

// Span writes a time as 25 min, or 8 h 02.
func Span(seconds float64) string {
	minutes := int(seconds/60 + 0.5)
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d", minutes/60, minutes%60)
}

// Lines writes lines that were added and deleted; "": none were.
func Lines(added, deleted int) string {
	if added+deleted == 0 {
		return ""
	}
	return fmt.Sprintf("+%s −%s", thousands(added), thousands(deleted))
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// class returns the class of a group, or of the group of a state.
func class(of any) string {
	g, ok := of.(view.Group)
	if s, is := of.(view.State); is && !ok {
		g = s.Group()
	}
	return map[view.Group]string{view.NeedsYou: "needs", view.Working: "working", view.Waiting: "waiting", view.IsDone: "isdone"}[g]
}

// icon returns the symbol of a state, which the frame defines.
func icon(s view.State) template.HTML {
	return template.HTML(`<svg class="i ` + string(s) + `" aria-hidden="true"><use href="#s-` + string(s) + `"/></svg>`)
}

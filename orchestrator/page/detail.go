package page

import (
	"cmp"
	"fmt"
	"html/template"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/picture"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Functions are what templates may call, of a page and of a report on a terminal.
func Functions() map[string]any {
	return map[string]any{
		"usd": USD, "span": Span, "lines": Lines, "count": plaintext.Count, "reason": Reason, "verb": plaintext.Verb,
		"class": class, "icon": icon, "path": picture.Symbol, "states": view.States, "exit": plaintext.ExitText,
		"charged": report.ChargeText, "headline": headline, "percent": func(f float64) string { return fmt.Sprintf("%.2f%%", f) },
	}
}

// times writes times as clocks in a zone have them; nil: in UTC.
type times struct{ zone *time.Location }

func (z times) in(t time.Time) time.Time { return t.In(cmp.Or(z.zone, time.UTC)) }

// Clock returns the time of a day; "" for an unknown one.
func (z times) Clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return z.in(t).Format("15:04")
}

// Day returns the day of a time.
func (z times) Day(t time.Time) string { return z.in(t).Format("2 Jan") }

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
	switch {
	case minutes == 0:
		return "under a minute"
	case minutes < 60:
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

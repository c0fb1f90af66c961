package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/limits"
	"relay/orchestrator/view"
)

// Sizes of the parts of the screen.
const (
	wide      = 140 // columns; from here on the pane is beside the list
	lowScreen = 30  // lines; below it there are few rows of each group
	headLines = 4
	footLines = 2
	paneHead  = 2 // lines of the pane above what scrolls
)

// window is what all parts of the screen know.
type window struct {
	w, h     int
	style    style
	now      func() time.Time
	night    *view.Night
	forecast *view.Forecast
}

func (w *window) isWide() bool { return w.w >= wide }

func (w *window) body() int { return max(w.h-headLines-footLines, 0) }

// head draws the lines above the list: what the night is, how it stands, the bar.
func (w *window) head() []string {
	n, now := w.night, w.now()
	right := w.style.clock(now)
	if !n.Run.EndedAt.IsZero() {
		now = n.Run.EndedAt
	}
	if !n.Run.Began.IsZero() {
		right += "  " + took(now.Sub(n.Run.Began))
	}
	if u := n.Money.Night; u.CostUSD > 0 {
		right += fmt.Sprintf("  %.2f", u.CostUSD)
		if k := slices.IndexFunc(n.Money.Caps, func(c view.Cap) bool { return c.Scope == limits.ScopeRun && c.USD != nil }); k >= 0 {
			right += fmt.Sprintf(" of %.0f", n.Money.Caps[k].USD.Cap)
		}
		right += " USD"
	}
	says := n.Sentence.String()
	if s := n.Sentence; !w.isWide() {
		says = fmt.Sprintf("%d of %d done", s.Done, s.Total)
		if s.Running > 0 {
			says += fmt.Sprintf(", %d running", s.Running)
		}
		if s.NeedYou > 0 {
			says += fmt.Sprintf(", %d %s you; %s first", s.NeedYou, plaintext.Verb(s.NeedYou, "needs", "need"), s.Task)
		}
	}
	return []string{
		w.style.paint(bold, spread(" "+plaintext.Fit(n.Epic.Title, w.w), right, w.w)), spread(" "+says, w.ends(), w.w),
		" " + w.style.bar(n, w.w-1), "",
	}
}

// ends says when the run ends or has ended, or why it starts nothing.
func (w *window) ends() string {
	r := w.night.Run
	switch {
	case r.State == view.Never:
		return "no run yet"
	case r.State == view.Killed || r.State == view.Ended:
		return string(r.State) + " " + w.style.clock(r.EndedAt)
	case !r.Paused.IsZero():
		return "paused since " + w.style.clock(r.Paused)
	case r.Waits != nil && !r.Waits.Until.IsZero():
		return "waits for " + plaintext.Fit(r.Waits.For, 20) + " until " + w.style.clock(r.Waits.Until)
	}
	ahead := *w.night
	ahead.Forecast = w.forecast
	said := ahead.Ahead(w.style.zone)
	if !w.isWide() {
		said, _, _ = strings.Cut(said, ",")
	}
	return said
}

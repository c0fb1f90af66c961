package watch

import (
	"fmt"
	"strings"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/page"
	"relay/orchestrator/view"
)

// Sizes of the parts of the screen.
const (
	wide      = 140 // columns; from here on the pane is beside the list
	lowScreen = 30  // lines; below it there are few rows of each group
	footLines = 2
	paneHead  = 2 // lines of the pane above what scrolls
)

// window is what all parts of the screen know.
type window struct {
	w, h  int
	style style
	now   func() time.Time
	night *view.Night
}

func (w *window) isWide() bool { return w.w >= wide }

func (w *window) isLow() bool { return w.h < lowScreen }

func (w *window) body() int { return max(w.h-len(w.head())-footLines, 0) }

// head draws the lines above the list: what the night is, how it stands, the bar and what it means.
func (w *window) head() []string {
	n, right, until := w.night, "", w.night.Run.EndedAt
	if n.Run.State == view.On {
		until = w.now()
		right = w.style.clock(until) + "  "
	}
	if !n.Run.Began.IsZero() {
		right += page.Span(until.Sub(n.Run.Began).Seconds())
	}
	if u := n.Money.Night; u.CostUSD > 0 {
		right += fmt.Sprintf("  %.2f", u.CostUSD)
		if most := n.Money.OfRun().USD; most != nil {
			right += fmt.Sprintf(" of %.0f", most.Cap)
		}
		right += " USD"
	}
	says := n.Sentence
	if !w.isWide() { // the first task is selected
		says.Start = ""
	}
	if len(says.String())+len(w.ends())+2 > w.w { // the legend has them
		says.Running, says.Waiting = 0, 0
	}
	bar, legend := w.style.bar(n, w.w-2)
	title := paint(bold, spread(" "+plaintext.Fit(n.Epic.Title, w.w), right, w.w))
	lines := []string{title, spread(" "+says.String(), w.ends(), w.w), " " + bar, " " + legend}
	if !w.isLow() {
		lines = append(lines, "")
	}
	return lines
}

// ends says when the run ends or has ended, or why it starts nothing.
func (w *window) ends() string {
	r := w.night.Run
	switch {
	case r.State == view.Never:
		return "no run yet"
	case r.State == view.Ended:
		return "ended " + w.style.clock(r.EndedAt)
	case r.State == view.Killed:
		return "killed, last event " + w.style.clock(r.EndedAt)
	case !r.Paused.IsZero():
		return "paused since " + w.style.clock(r.Paused)
	case r.Waits != nil && !r.Waits.Until.IsZero():
		return "waits for " + plaintext.Fit(r.Waits.For, 20) + " until " + w.style.clock(r.Waits.Until)
	}
	said := w.night.Ahead(w.style.zone)
	if !w.isWide() {
		said, _, _ = strings.Cut(said, " (")
	}
	return said
}

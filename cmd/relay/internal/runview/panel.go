package runview

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/attempts"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/view"
)

// panel is the few lines that show the model of the night: how it stands, what it has taken, when it may end, and what is done now. Only
// the running attempts' newest activity and usage are not in the model.
type panel struct {
	night *view.Night // nil: not known yet
	doing map[string]string
	used  map[string]attempts.Usage
	paint terminal.Palette
}

func newPanel(paint terminal.Palette) panel {
	return panel{doing: map[string]string{}, used: map[string]attempts.Usage{}, paint: paint}
}

// take takes in a change, and reports whether the panel shows it in the place of a line.
func (p *panel) take(u decide.Update) bool {
	switch u.Kind {
	case decide.Started:
		delete(p.doing, u.Task)
		delete(p.used, u.Task)
		return false
	case decide.Used:
		p.used[u.Task] = u.Usage
	case decide.Activity, decide.SettingUp, decide.Checking, decide.Reviewing, decide.Mending:
		p.doing[u.Task] = strings.TrimPrefix(string(u.Kind)+": ", "activity: ") + u.Text
	default:
		return u.Kind == decide.Verified
	}
	return true
}

// Bounds of the panel.
const (
	maxRunning = 8  // tasks that are shown of those that run
	otherRows  = 6  // rows of a window that the panel leaves, and those it has for other things than tasks
	barWidth   = 20 // without its brackets
)

// view draws the panel for a window of so many columns and rows, one string for each line.
func (p *panel) view(now time.Time, width, height int) []string {
	n := p.night
	if n == nil {
		return nil
	}
	bar := status.Bar(n.Sentence.Done, n.Sentence.Total, min(barWidth, max(width/3, 2)))
	said, room := n.Sentence, width-len(bar)-1
	if displaywidth.String(said.String()) > room {
		said.Start = ""
	}
	rows := []string{p.paint.Good(bar) + " " + plaintext.Fit(said.String(), room)}
	add := func(msg string) { rows = append(rows, "  "+plaintext.Fit(msg, width-2)) }
	if so := p.soFar(now); so != "" {
		add(so)
	}
	most := min(maxRunning, max(height-otherRows, 1))
	for i, r := range n.Working {
		if i == most {
			add(fmt.Sprintf("and %d more", len(n.Working)-i))
			break
		}
		taken, doing := plaintext.Span(now.Sub(r.Since)), p.doing[r.ID]
		if cost := costText(p.used[r.ID]); cost != "" {
			taken += ", " + cost
		}
		if r.Phase == view.PhaseLanding {
			doing = "proved, waits to land"
		} else if doing == "" {
			doing = r.Title
		}
		add(fmt.Sprintf("%s %d/%d %s, %s: %s", r.ID, r.Attempt, r.Max, r.Agent, taken, doing))
	}
	wait := ""
	switch w := n.Run.Waits; {
	case !n.Run.Paused.IsZero():
		wait = "paused by you since " + plaintext.LocalTimeOn(n.Run.Paused, now, "15:04") + ": relay pause --off"
	case w != nil && w.Until.After(now):
		wait = fmt.Sprintf("waiting until %s for %s", plaintext.LocalTimeOn(w.Until, now, time.TimeOnly), w.For)
	}
	if wait != "" {
		rows = append(rows, "  "+p.paint.Wait(plaintext.Fit(wait, width-2)))
	}
	return rows
}

// soFar returns text that says what the night has taken, and when it may end.
func (p *panel) soFar(now time.Time) string {
	n := p.night
	if n.Run.Began.IsZero() {
		return ""
	}
	parts := []string{plaintext.Span(now.Sub(n.Run.Began))}
	sum := n.Money.Night
	for _, r := range n.Working {
		sum.Add(p.used[r.ID])
	}
	if cost := costText(sum); cost != "" {
		parts = append(parts, cost+capText(n, sum))
	}
	if ahead := n.Ahead(time.Local); ahead != "" {
		parts = append(parts, ahead)
	}
	return strings.Join(parts, ", ")
}

// capText returns the cap of the run in the unit of what was used; "" without a cap.
func capText(n *view.Night, used attempts.Usage) string {
	switch c := n.Money.OfRun(); {
	case used.KnownCost() && c.USD != nil:
		return fmt.Sprintf(" of %.2f", c.USD.Cap)
	case !used.KnownCost() && c.Tokens != nil:
		return " of " + plaintext.Amount(c.Tokens.Cap)
	}
	return ""
}

// costText returns a cost, or if it is unknown the tokens as caps count them; "" without usage.
func costText(u attempts.Usage) string {
	switch {
	case u.EstimatedCost():
		return fmt.Sprintf("~%.2f USD", u.CostUSD)
	case u.KnownCost():
		return fmt.Sprintf("%.2f USD", u.CostUSD)
	case u.Uncached() > 0:
		return plaintext.Amount(u.Uncached()) + " tokens"
	}
	return ""
}

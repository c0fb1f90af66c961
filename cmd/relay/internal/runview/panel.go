package runview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/report"
)

// panel is what the few lines show: how the run stands, what it has taken, when it may end, and what is done now.
type panel struct {
	began    time.Time
	counts   decide.Counts
	running  []runningTask
	waiting  string
	paused   string                    // by a person; it stands in the place of waiting
	spent    attempts.Usage            // by attempts that have ended
	used     map[string]attempts.Usage // by those under way, by task
	maxUSD   float64
	maxToken int64
	forecast *status.Forecast // nil: none
	paint    terminal.Palette
}

type runningTask struct {
	id, head, doing string
	since           time.Time
}

func (p *panel) take(u decide.Update) {
	if u.Counts.Total > 0 {
		p.counts = u.Counts
	}
	at := slices.IndexFunc(p.running, func(r runningTask) bool { return r.id == u.Task })
	switch u.Kind {
	case decide.UpdateRun:
		p.start(u)
	case decide.Started:
		p.waiting = ""
		number := strings.TrimPrefix(attemptText(u), "attempt ")
		r := runningTask{id: u.Task, head: u.Task + " " + number + " " + u.Runner, doing: u.Title, since: u.At}
		if at < 0 {
			p.running = append(p.running, r)
		} else {
			p.running[at] = r
		}
	case decide.Used:
		if p.used == nil {
			p.used = map[string]attempts.Usage{}
		}
		p.used[u.Task] = u.Usage
	case decide.Activity, decide.SettingUp,
		decide.Checking, decide.Reviewing, decide.Mending:
		if at >= 0 {
			p.running[at].doing = strings.TrimPrefix(string(u.Kind)+": ", "activity: ") + u.Text
		}
	case decide.Verified:
		if at >= 0 {
			p.running[at].doing = "proved, waits to land"
		}
	case decide.Completed, decide.UpdateFailed, decide.Retry, decide.Held, decide.Gated, decide.Stopped:
		if at >= 0 { // else it is one of an earlier run
			p.running = slices.Delete(p.running, at, at+1)
			p.settle(u)
		}
	case decide.UpdateWaiting, decide.Cramped, decide.Paused:
		p.waiting = fmt.Sprintf("waiting until %s for %s", plaintext.LocalTimeOn(u.Until, u.At, time.TimeOnly), u.Runner)
	case decide.Request:
		p.request(u)
	default: // the others are lines, which stay
	}
}

// request takes in what a person has asked of the run.
func (p *panel) request(u decide.Update) {
	switch u.Asked {
	case attempts.RequestPause:
		p.paused = "paused by you since " + u.At.Local().Format("15:04") + ": relay pause --off"
	case attempts.RequestContinue:
		p.paused = ""
	default: // the others are lines
	}
}

// start begins a run: the first, or another one after a reload.
func (p *panel) start(u decide.Update) {
	if p.began.IsZero() {
		p.began = u.At
	}
	p.spent, p.used, p.maxUSD, p.maxToken = u.Usage, nil, u.MaxUSD, u.MaxTokens
}

// settle adds what an attempt has used that has ended.
func (p *panel) settle(u decide.Update) {
	if u.Usage == (attempts.Usage{}) {
		u.Usage = p.used[u.Task]
	}
	p.spent.Add(u.Usage)
	delete(p.used, u.Task)
}

// Bounds of the panel.
const (
	maxRunning = 8  // tasks that are shown of those that run
	otherRows  = 6  // rows of a window that the panel leaves, and those it has for other things than tasks
	barWidth   = 20 // without its brackets
	leastBar   = 5
)

// view draws the panel for a window of so many columns and rows, one string for each line.
func (p *panel) view(now time.Time, width, height int) []string {
	rows := []string{p.state(width)}
	add := func(msg string) { rows = append(rows, "  "+plaintext.Fit(msg, width-2)) }
	if so := p.soFar(now); so != "" {
		add(so)
	}
	most := min(maxRunning, max(height-otherRows, 1))
	for i, r := range p.running {
		if i == most {
			add(fmt.Sprintf("and %d more", len(p.running)-i))
			break
		}
		taken := plaintext.Span(now.Sub(r.since))
		if cost := costText(p.used[r.id]); cost != "" {
			taken += ", " + cost
		}
		add(fmt.Sprintf("%s, %s: %s", r.head, taken, r.doing))
	}
	if wait := cmp.Or(p.paused, p.waiting); wait != "" {
		rows = append(rows, "  "+p.paint.Wait(plaintext.Fit(wait, width-2)))
	}
	return rows
}

// state returns the row that says how many tasks are in which state; the bar takes what room the words leave.
func (p *panel) state(width int) string {
	counts := report.CountsText(p.counts, false)
	bar := status.Bar(p.counts, min(barWidth, max(width-len(counts)-3, leastBar)))
	if room := width - len(bar) - 1; len(counts) > room {
		counts = plaintext.Fit(counts, room)
	} else {
		counts = status.CountsText(p.counts, false, p.paint)
	}
	return p.paint.Good(bar) + " " + counts
}

// soFar returns text that says what the run has taken, and how long it will still take if relay can estimate that.
func (p *panel) soFar(now time.Time) string {
	if p.began.IsZero() {
		return ""
	}
	parts := []string{plaintext.Span(now.Sub(p.began))}
	sum := p.spent
	for _, u := range p.used {
		sum.Add(u)
	}
	if cost := costText(sum); cost != "" {
		parts = append(parts, cost+p.capText(sum))
	}
	if rest := status.Remaining(p.forecast, now); rest != "" {
		parts = append(parts, rest)
	}
	return strings.Join(parts, ", ")
}

// capText returns the cap of the run in the unit of its usage; "" without a cap.
func (p *panel) capText(used attempts.Usage) string {
	switch {
	case used.KnownCost() && p.maxUSD > 0:
		return fmt.Sprintf(" of %.2f", p.maxUSD)
	case !used.KnownCost() && p.maxToken > 0:
		return " of " + plaintext.Amount(p.maxToken)
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

package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/ending"
	"relay/orchestrator/text"
	"relay/orchestrator/updates"
)

// live shows a run on a terminal: messages scroll away above a few lines that say how it stands. It asks the terminal
// nothing, takes no keys and keeps no state there, so it does no harm in the background or after the terminal is gone.
type live struct {
	w     io.Writer // the terminal itself; what goes there has been made safe by line
	now   func() time.Time
	panel panel
	rows  int // lines of the panel on the screen
}

func newLive(a *cli.App) *live { return &live{w: a.Err.Dest, now: a.Now} }

// quiet are changes that the panel shows and that need no line of their own.
var quiet = []updates.Kind{
	updates.Activity, updates.SettingUp, updates.Checking,
	updates.Reviewing, updates.Mending, updates.Verified,
}

func (l *live) show(u updates.Update) {
	l.panel.take(u)
	if slices.Contains(quiet, u.Kind) {
		return // the next tick draws it
	}
	l.print(u.At.Local().Format(time.TimeOnly) + " " + updateText(u))
}

func (l *live) say(msg string) { l.print("relay: " + text.Line(msg, maxLine)) }
func (l *live) flush()         {}
func (l *live) tick()          { l.print("") }

func (l *live) close() { _, _ = io.WriteString(l.w, l.erase()) }

// print writes a message where the panel was, and the panel below it, in one piece: a terminal never shows half of it.
func (l *live) print(message string) {
	msg := l.erase()
	if message != "" {
		msg += message + "\n"
	}
	rows := l.panel.view(l.now(), terminal.Columns(l.w)-1) // a full line would wrap on some terminals
	l.rows = len(rows)
	_, _ = io.WriteString(l.w, msg+strings.Join(rows, "\n")+"\n")
}

// erase moves to the first line of the panel and clears all below.
func (l *live) erase() string {
	if l.rows == 0 {
		return ""
	}
	up := l.rows
	l.rows = 0
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", up)
}

// panel is what the few lines show.
type panel struct {
	counts  ending.Counts
	running []runningTask
	waiting string
}

type runningTask struct {
	id, head, doing string
	since           time.Time
}

func (p *panel) take(u updates.Update) {
	if u.Counts.Total > 0 {
		p.counts = u.Counts
	}
	at := slices.IndexFunc(p.running, func(r runningTask) bool { return r.id == u.Task })
	switch u.Kind {
	case updates.Started:
		p.waiting = ""
		r := runningTask{id: u.Task, head: fmt.Sprintf("%s %d/%d %s", u.Task, u.Try, u.Max, u.Runner), doing: u.Title, since: u.At}
		if at < 0 {
			p.running = append(p.running, r)
		} else {
			p.running[at] = r
		}
	case updates.Activity, updates.SettingUp,
		updates.Checking, updates.Reviewing, updates.Mending:
		if at >= 0 {
			p.running[at].doing = strings.TrimPrefix(string(u.Kind)+": ", "activity: ") + u.Text
		}
	case updates.Verified:
		if at >= 0 {
			p.running[at].doing = "proved, waits to land"
		}
	case updates.Completed, updates.Failed, updates.Retry, updates.Held, updates.Gated:
		if at >= 0 {
			p.running = slices.Delete(p.running, at, at+1)
		}
	case updates.Waiting, updates.Cramped, updates.Paused:
		p.waiting = fmt.Sprintf("waiting until %s for %s", u.Until.Local().Format("15:04:05"), u.Runner)
	default: // the others are lines, which stay
	}
}

// maxRunning is how many running tasks are shown: the panel must stay smaller than the window.
const maxRunning = 8

// view draws the panel, one string for each line.
func (p *panel) view(now time.Time, width int) []string {
	rows := []string{text.Line(status.Bar(p.counts, 20)+" "+status.Printer{}.CountsText(p.counts), width)}
	add := func(msg string) { rows = append(rows, "  "+text.Line(msg, width-2)) }
	for i, r := range p.running {
		if i == maxRunning {
			add(fmt.Sprintf("and %d more", len(p.running)-i))
			break
		}
		add(fmt.Sprintf("%s, %s: %s", r.head, text.Span(now.Sub(r.since)), r.doing))
	}
	if p.waiting != "" {
		add(p.waiting)
	}
	return rows
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"relay/orchestrator"
)

// live shows a run on a terminal: messages scroll away above a few lines that say how it stands. It takes neither keys
// nor signals.
type live struct {
	program *tea.Program
	done    chan struct{}
}

// liveRate is how often the few lines are drawn at most, for each second.
const liveRate = 10

func newLive(a *app) *live {
	p := tea.NewProgram(panel{now: a.now, width: columns(a.err.w)},
		tea.WithInput(nil), tea.WithOutput(terminalOf(a.err)), tea.WithoutSignalHandler(), tea.WithFPS(liveRate))
	l := &live{program: p, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		_, _ = p.Run() // a terminal that cannot be drawn on is no reason to end the night
	}()
	return l
}

// terminalOf is the terminal behind a scrubber; what goes there has been made safe by line and updateText.
func terminalOf(s *scrubber) io.Writer { return s.w }

func (l *live) show(u orchestrator.Update) {
	l.program.Send(u)
	if text := updateText(u); text != "" && u.Kind != orchestrator.UpdateChecking && u.Kind != orchestrator.UpdateReviewing {
		l.program.Println(u.At.Local().Format(time.TimeOnly) + " " + text)
	}
}

func (l *live) say(text string) { l.program.Println("relay: " + safe(text)) }

func (l *live) close() {
	l.program.Send(over{})
	<-l.done
}

type (
	over struct{}
	tick struct{}
)

// panel is what the few lines show.
type panel struct {
	now     func() time.Time
	width   int
	counts  orchestrator.Counts
	running []runningTask
	waiting string
	over    bool
}

type runningTask struct {
	id, head, doing string
	since           time.Time
}

// Init starts the clock.
func (p panel) Init() tea.Cmd { return again() }

func again() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{} }) }

// Update takes in one message.
func (p panel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width = max(msg.Width, 20)
	case tick:
		return p, again()
	case over:
		p.over = true
		return p, tea.Quit
	case orchestrator.Update:
		p.take(msg)
	}
	return p, nil
}

func (p *panel) take(u orchestrator.Update) {
	if u.Counts.Total > 0 {
		p.counts = u.Counts
	}
	at := slices.IndexFunc(p.running, func(r runningTask) bool { return r.id == u.Task })
	switch u.Kind {
	case orchestrator.UpdateStarted:
		p.waiting = ""
		r := runningTask{id: u.Task, head: fmt.Sprintf("%s %d/%d %s", u.Task, u.Try, u.Max, u.Runner), doing: u.Title, since: u.At}
		if at < 0 {
			p.running = append(slices.Clone(p.running), r)
		} else {
			p.running[at] = r
		}
	case orchestrator.UpdateActivity, orchestrator.UpdateChecking, orchestrator.UpdateReviewing:
		if at >= 0 {
			p.running = slices.Clone(p.running)
			p.running[at].doing = strings.TrimPrefix(string(u.Kind)+": ", "activity: ") + u.Text
		}
	case orchestrator.UpdateCompleted, orchestrator.UpdateFailed, orchestrator.UpdateRetry, orchestrator.UpdateGated:
		if at >= 0 {
			p.running = slices.Delete(slices.Clone(p.running), at, at+1)
		}
	case orchestrator.UpdateWaiting:
		p.waiting = fmt.Sprintf("waiting until %s for %s", u.Until.Local().Format("15:04:05"), u.Runner)
	}
}

// maxRunning is how many running tasks are shown: the panel must stay smaller than the window.
const maxRunning = 8

// View draws the panel, and nothing when it is over.
func (p panel) View() string {
	if p.over {
		return ""
	}
	c := counts{p.counts.Total, p.counts.Completed, p.counts.InProgress, p.counts.Pending, p.counts.Blocked, p.counts.Gated}
	rows := []string{line(bar(c, 20)+" "+countsText(c), p.width)}
	for i, r := range p.running {
		if i == maxRunning {
			rows = append(rows, fmt.Sprintf("  and %d more", len(p.running)-i))
			break
		}
		rows = append(rows, line(fmt.Sprintf("  %s %s  %s", r.head, span(p.now().Sub(r.since)), r.doing), p.width))
	}
	if p.waiting != "" {
		rows = append(rows, line("  "+p.waiting, p.width))
	}
	return strings.Join(rows, "\n") + "\n"
}

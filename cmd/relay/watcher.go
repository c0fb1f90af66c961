package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
)

// display shows what happens during a run. Its methods are called from one goroutine.
type display interface {
	show(u orchestrator.Update)
	say(text string)
	flush() // nothing more is known for the moment
	tick()  // time has passed
	close()
}

// watcher stands between a run and its display: a terminal that stands still (Ctrl-S, a stopped pager) must not hold up
// the night, so what it does not take in time is dropped, and it is told how much.
type watcher struct {
	display display
	queue   chan any // orchestrator.Update or string
	leaving chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	closed  bool
	dropped int
}

const (
	maxQueue  = 1024
	closeWait = 2 * time.Second
)

// newWatcher shows a run on stderr: live on a terminal, line by line elsewhere.
func newWatcher(a *app) *watcher {
	var d display = &lines{w: a.err}
	if terminal.IsTerminal(a.err.Dest) && a.lookup("TERM") != "dumb" {
		d = newLive(a)
	}
	return watching(d)
}

func watching(d display) *watcher {
	w := &watcher{display: d, queue: make(chan any, maxQueue), leaving: make(chan struct{}), done: make(chan struct{})}
	go w.serve()
	return w
}

const (
	drawEvery   = 250 * time.Millisecond // how often what has no line of its own is shown
	gatherWhile = 20 * time.Millisecond  // after something was shown: nobody reads faster, and each piece wakes its reader
)

func (w *watcher) serve() {
	defer close(w.done)
	defer w.display.close()
	clock := time.NewTicker(drawEvery)
	defer clock.Stop()
	pause := time.NewTimer(gatherWhile)
	defer pause.Stop()
	for {
		select {
		case item, open := <-w.queue:
			if !open {
				return
			}
			w.pass(item)
			for range len(w.queue) { // only here anything is taken out
				w.pass(<-w.queue)
			}
			w.display.flush()
			pause.Reset(gatherWhile)
			select {
			case <-pause.C:
			case <-w.leaving:
			}
		case <-clock.C:
			w.display.tick()
		}
	}
}

// pass hands one item to the display, after telling what had to be dropped before it.
func (w *watcher) pass(item any) {
	w.mu.Lock()
	dropped := w.dropped
	w.dropped = 0
	w.mu.Unlock()
	if dropped > 0 {
		w.display.say(fmt.Sprintf("%s not shown: the terminal was too slow", count(dropped, "message")))
	}
	switch item := item.(type) {
	case orchestrator.Update:
		w.display.show(item)
	case string:
		w.display.say(item)
	}
}

func (w *watcher) update(u orchestrator.Update) { w.put(u) }
func (w *watcher) say(text string)              { w.put(text) }

func (w *watcher) put(item any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	select {
	case w.queue <- item:
	default:
		w.dropped++
	}
}

// close waits until everything is shown, but not for ever.
func (w *watcher) close() {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	close(w.leaving)
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(closeWait):
	}
}

// lines shows one line for each change of state.
type lines struct {
	w    *terminal.Writer
	text bytes.Buffer // not written yet
}

func (l *lines) show(u orchestrator.Update) {
	if text := updateText(u); text != "" {
		fmt.Fprintf(&l.text, "%s %s\n", u.At.Local().Format(time.TimeOnly), text)
	}
}

func (l *lines) say(text string) { fmt.Fprintf(&l.text, "relay: %s\n", text) }
func (l *lines) tick()           {}
func (l *lines) close()          {}

func (l *lines) flush() {
	_, _ = l.w.Write(l.text.Bytes()) // it never fails
	l.text.Reset()
}

// maxLine bounds one message, in columns.
const maxLine = 300

// unchargedWords say what becomes of a task whose attempt was not charged.
var unchargedWords = map[orchestrator.UpdateKind]string{
	orchestrator.UpdateRetry: "ended uncharged, will be tried again",
	orchestrator.UpdateHeld:  "waits until nothing else can be done",
}

// meanwhile says what a person can do while a run waits.
func meanwhile(u orchestrator.Update) string {
	if u.Fix != "" {
		return "type " + u.Fix
	}
	return "relay work --ask-now does not wait"
}

// updateText is a change of state in words, or "" when it is none.
func updateText(u orchestrator.Update) string {
	text := ""
	switch u.Kind {
	case orchestrator.UpdateRun:
		text = fmt.Sprintf("run %s: %d of %d completed", u.Text, u.Counts.Completed, u.Counts.Total)
		if u.Budget != "" {
			text += ", " + u.Budget
		}
	case orchestrator.UpdateStarted:
		text = fmt.Sprintf("%s attempt %d/%d started (%s): %s", u.Task, u.Try, u.Max, u.Runner, u.Title)
	case orchestrator.UpdateSettingUp, orchestrator.UpdateChecking:
		text = fmt.Sprintf("%s %s: %s", u.Task, strings.ReplaceAll(string(u.Kind), "_", " "), u.Text)
	case orchestrator.UpdateReviewing:
		text = fmt.Sprintf("%s in review%s", u.Task, after(u.Text))
	case orchestrator.UpdateMending:
		text = fmt.Sprintf("%s mending what reviewers found: %s", u.Task, u.Text)
	case orchestrator.UpdateCompleted:
		text = fmt.Sprintf("%s completed in %s, %d of %d done%s", u.Task, span(u.Elapsed), u.Counts.Completed, u.Counts.Total, after(u.Text))
	case orchestrator.UpdateFailed:
		text = fmt.Sprintf("%s attempt %d/%d failed after %s, will be tried again%s", u.Task, u.Try, u.Max, span(u.Elapsed), after(u.Text))
	case orchestrator.UpdateRetry, orchestrator.UpdateHeld:
		text = u.Task + " " + unchargedWords[u.Kind] + after(u.Text)
	case orchestrator.UpdateGated:
		text = fmt.Sprintf("%s gated%s", u.Task, after(u.Text))
	case orchestrator.UpdateWaiting:
		text = fmt.Sprintf("waiting until %s for %s%s (%s)", u.Until.Local().Format("15:04:05"), u.Runner, after(u.Text), meanwhile(u))
	case orchestrator.UpdateCramped, orchestrator.UpdatePaused:
		text = fmt.Sprintf("waiting until %s for %s%s", u.Until.Local().Format("15:04:05"), u.Runner, after(u.Text))
	case orchestrator.UpdateNote:
		text = strings.TrimSpace(fmt.Sprintf("note: %s %s", u.Task, u.Text))
	case orchestrator.UpdateStopping:
		text = "stopping" + after(u.Text)
	}
	return line(text, maxLine)
}

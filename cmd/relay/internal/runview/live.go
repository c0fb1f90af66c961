package runview

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
)

// live shows a run on a terminal: messages scroll away above a few lines that say how it stands. It asks the terminal
// nothing, takes no keys and keeps no state there, so it does no harm in the background or after the terminal is gone.
type live struct {
	w     io.Writer // the terminal itself; what goes there has been made safe by line
	now   func() time.Time
	panel panel
	rows  int // lines of the panel on the screen
	ends  estimator
}

// quiet are changes that the panel shows and that need no line of their own.
var quiet = []decide.UpdateKind{
	decide.Activity, decide.Used, decide.SettingUp, decide.Checking,
	decide.Reviewing, decide.Mending, decide.Verified,
}

func (l *live) show(u decide.Update) {
	l.panel.take(u)
	switch u.Kind {
	case decide.UpdateRun, decide.Completed, decide.Gated:
		l.ends.changed = true
	default: // the others change little of what is left
	}
	if slices.Contains(quiet, u.Kind) {
		return // the next tick draws it
	}
	l.print(row(u, l.panel.paint))
}

func (l *live) say(msg string) { l.print("relay: " + plaintext.Fit(msg, maxLine)) }
func (l *live) flush()         {}

func (l *live) expect(estimate func() *status.Forecast) {
	l.ends = estimator{estimate: estimate, changed: true}
}

func (l *live) tick() {
	if f, isNew := l.ends.poll(l.now()); isNew {
		l.panel.forecast = f
	}
	l.print("")
}

func (l *live) close() { _, _ = io.WriteString(l.w, l.erase()) }

// print writes a message where the panel was, and the panel below it, in one piece: a terminal never shows half of it.
func (l *live) print(message string) {
	msg := l.erase()
	if message != "" {
		msg += message + "\n"
	}
	rows := l.panel.view(l.now(), terminal.Columns(l.w)-1, terminal.Rows(l.w)) // a full line would wrap on some terminals
	l.rows = len(rows)
	_, _ = io.WriteString(l.w, l.panel.paint.Render(msg+strings.Join(rows, "\n")+"\n"))
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

// How often the end of a run is estimated: soon after a task has ended, and now and then, as what runs takes its time.
const (
	estimateSoon = 5 * time.Second
	estimateLate = time.Minute
)

// estimator has the end of a run estimated beside the display, which never waits for it.
type estimator struct {
	estimate func() *status.Forecast // nil: there are no estimates
	result   chan *status.Forecast   // of the one under way; nil: none is
	last     time.Time               // when it was asked
	changed  bool                    // a task has ended since
}

// poll takes a new estimate, if there is one, and has another one made when it is time to.
func (e *estimator) poll(now time.Time) (f *status.Forecast, isNew bool) {
	if e.result != nil {
		select {
		case f = <-e.result:
			e.result, isNew = nil, true
		default:
			return nil, false
		}
	}
	after := estimateLate
	if e.changed {
		after = estimateSoon
	}
	if e.estimate != nil && now.Sub(e.last) >= after {
		e.last, e.changed = now, false
		result := make(chan *status.Forecast, 1)
		e.result = result
		go func() { result <- e.estimate() }()
	}
	return f, isNew
}

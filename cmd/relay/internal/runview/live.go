package runview

import (
	"fmt"
	"io"
	"strings"
	"time"

	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/view"
)

// live shows a run on a terminal: messages scroll away above a few lines that say how it stands. It asks the terminal
// nothing, takes no keys and keeps no state there, so it does no harm in the background or after the terminal is gone.
type live struct {
	w     io.Writer // the terminal itself; what goes there has been made safe by line
	now   func() time.Time
	panel panel
	rows  int // lines of the panel on the screen

	model func() *view.Night // nil: there is none
	made  chan *view.Night   // of a model that is read just now; nil: none is
}

func (l *live) show(u decide.Update) {
	if !l.panel.take(u) { // else the next tick draws it
		l.print(row(u, l.panel.paint))
	}
}

func (l *live) say(msg string) { l.print("relay: " + plaintext.Fit(msg, maxLine)) }
func (l *live) flush()         {}

func (l *live) follow(model func() *view.Night) { l.model, l.made = model, nil }

// tick takes the newest night, if it has been read, and has the next one read beside the display, which never waits for it.
func (l *live) tick() {
	select {
	case night := <-l.made:
		l.panel.night, l.made = night, nil
	default:
	}
	if l.model != nil && l.made == nil {
		made, model := make(chan *view.Night, 1), l.model
		l.made = made
		go func() { made <- model() }()
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
	if len(rows) > 0 {
		msg += strings.Join(rows, "\n") + "\n"
	}
	_, _ = io.WriteString(l.w, l.panel.paint.Render(msg))
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

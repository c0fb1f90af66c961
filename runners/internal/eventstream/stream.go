// Package eventstream runs CLIs that print a stream of events, tells watchers of it, and counts what was used of the model.
package eventstream

import (
	"context"
	"slices"
	"strings"
	"time"

	"relay/internal/lazyregexp"
	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/internal/cleantext"
	"relay/runners/internal/jsonline"
	"relay/runners/internal/monitor"
	"relay/runners/process"
)

// Reader folds what one CLI prints into what a report needs.
type Reader interface {
	Line(line []byte) // one line of stdout, as it comes; not to be kept
	State() monitor.State
	Usage() runners.Usage // so far; the whole, once the CLI has told it
	Report(e monitor.End) runners.Report
}

// Run runs a CLI that prints a stream of events, and reports what its stream and its end mean together. Its error is for
// faults of relay's own machine.
func Run(ctx context.Context, sup process.Supervisor, req runners.Request, cmd process.Command, s Reader) (runners.Report, error) {
	m := meter{Reader: s, req: req}
	w := monitor.Process{Supervisor: sup, Command: cmd, Limits: req.Limits, State: m.State}
	q := &Requests{}
	if c, ok := s.(counter); ok {
		q = c.Requests()
		w.Stopping = func(at time.Time) { q.stopped = at }
	}
	w.ReadLine = func(line []byte) {
		_, event := jsonline.Object(line)
		m.begun = m.begun || event
		q.grow(len(line))
		s.Line(line)
	}
	e, err := w.Run(ctx)
	if err != nil {
		if w.CannotStart(err) {
			return adapter.StartFault(err), nil
		}
		return runners.Report{}, err
	}
	if l := m.log(); l != nil {
		l.finish()
	}
	r := s.Report(e)
	m.quote(e, &r)
	return r, w.Compact()
}

// askingPattern matches a line with which a CLI asks a person for something.
var askingPattern = lazyregexp.New(`(?i)\?(?:\s|$)|\by/n\b|\b(?:log|sign) ?in\b|\btrust\b|\bpress \w`)

// quote adds to the report of a CLI that fell silent the last lines it printed, when they are no events. One that had printed no event
// before waits for a person, at a login or another question: it has not started.
func (m *meter) quote(e monitor.End, r *runners.Report) {
	silent := r.Outcome == runners.SilenceLimit || r.Outcome == runners.WallLimit || r.Outcome == runners.Network
	if e.Cause == nil || e.Cancelled || !silent {
		return
	}
	said := lastLines(m.req.Transcript)
	if err := lastLines(m.req.Stderr); said == "" && askingPattern.MatchString(err) {
		said = err
	}
	if said == "" {
		return
	}
	if !m.begun {
		r.Outcome = runners.CannotStart
	}
	r.Detail = adapter.JoinDetail(`it waits after it printed "`+said+`"`, r.Detail)
}

// lastLines returns the last lines of an output, the unfinished one as well, as one line; "" if an event is the last.
func lastLines(path string) string {
	lines := strings.FieldsFunc(cleantext.Clean(adapter.End(path, 4<<10), 4<<10), func(c rune) bool { return c == '\n' })
	lines = lines[max(0, len(lines)-3):]
	if n := len(lines); n == 0 || strings.HasPrefix(lines[n-1], "{") {
		return ""
	}
	lines = slices.DeleteFunc(lines, func(s string) bool { return strings.HasPrefix(s, "{") })
	return cleantext.OneLine(strings.Join(lines, " "), 240)
}

// counter is a stream that counts requests.
type counter interface{ Requests() *Requests }

// logged is a stream whose CLI tells what it uses in a file of its own.
type logged interface{ SessionLog() *SessionLog }

func (m *meter) log() *SessionLog {
	if s, ok := m.Reader.(logged); ok {
		return s.SessionLog()
	}
	return nil
}

// meter tells the observer of a stream what it has cost, each time that has grown, until the final result is there:
// what that says of the cost is in the report, and nobody can stop the agent any more before it is spent.
type meter struct {
	Reader
	req   runners.Request
	told  runners.Usage
	begun bool // an event was seen
}

func (m *meter) State() monitor.State {
	if l := m.log(); l != nil {
		l.read()
	}
	state := m.Reader.State()
	if u := m.Usage(); u != m.told && m.req.Observe != nil && state != monitor.Finished {
		m.told = u
		e := runners.Event{Kind: runners.EventUsage, Usage: u}
		if s, ok := m.Reader.(named); ok {
			e.Model = s.ModelName()
		}
		m.req.Observe(e)
	}
	return state
}

// named is a stream that says which model answers.
type named interface{ ModelName() string }

// Steps are the ids of what an agent has begun and not ended. While there are none, only its model can be what is
// missing.
type Steps map[string]struct{}

const maxSteps = 1000 // remembered; one that is forgotten never ends

// Begin records a step.
func (s *Steps) Begin(id jsonline.String) {
	if *s == nil {
		*s = Steps{}
	}
	if len(*s) < maxSteps {
		(*s)[id.Head(cleantext.MaxName)] = struct{}{}
	}
}

// End forgets a step.
func (s Steps) End(id jsonline.String) { delete(s, id.Head(cleantext.MaxName)) }

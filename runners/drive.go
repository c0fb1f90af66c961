package runners

import (
	"context"
	"time"

	"relay/runners/internal/cleantext"
	"relay/runners/internal/jsonscan"
	"relay/runners/process"
)

// stream folds what one CLI prints into what a report needs.
type stream interface {
	line(line []byte) // one line of stdout, as it comes; not to be kept
	mood() mood
	usage() Usage // so far; the whole, once the CLI has told it
	report(e end) Report
}

// drive runs a CLI that prints a stream of events, and reports what its stream and its end mean together.
func drive(ctx context.Context, sup process.Supervisor, req Request, cmd process.Command, s stream) (Report, error) {
	m := meter{stream: s, req: req}
	w := watch{sup: sup, cmd: cmd, limits: req.Limits, read: s.line, mood: m.mood}
	if c, ok := s.(counter); ok {
		q := c.counts()
		w.read = func(line []byte) {
			q.grows(len(line))
			s.line(line)
		}
		w.ending = func(at time.Time) { q.stopped = at }
	}
	e, err := w.run(ctx)
	if err != nil {
		if w.cannotStart(err) {
			return startFault(err), nil
		}
		return Report{}, err
	}
	if l := m.log(); l != nil {
		l.finish()
	}
	return s.report(e), w.compact()
}

// counter is a stream that counts requests.
type counter interface{ counts() *requests }

// logged is a stream whose CLI tells what it uses in a file of its own.
type logged interface{ log() *sessionLog }

func (m *meter) log() *sessionLog {
	if s, ok := m.stream.(logged); ok {
		return s.log()
	}
	return nil
}

// meter tells the observer of a stream what it has cost, each time that has grown, until the final result is there:
// what that says of the cost is in the report, and nobody can stop the agent any more before it is spent.
type meter struct {
	stream
	req  Request
	told Usage
}

func (m *meter) mood() mood {
	if l := m.log(); l != nil {
		l.read()
	}
	mood := m.stream.mood()
	if u := m.usage(); u != m.told && m.req.Observe != nil && mood != finished {
		m.told = u
		e := Event{Kind: EventUsage, Usage: u}
		if s, ok := m.stream.(named); ok {
			e.Model = s.modelName()
		}
		m.req.Observe(e)
	}
	return mood
}

// named is a stream that says which model answers.
type named interface{ modelName() string }

// steps are the ids of what an agent has begun and not ended. While there are none, only its model can be what is
// missing.
type steps map[string]struct{}

const maxSteps = 1000 // remembered; one that is forgotten never ends

func (s *steps) begin(id jsonscan.String) {
	if *s == nil {
		*s = steps{}
	}
	if len(*s) < maxSteps {
		(*s)[id.Head(cleantext.MaxName)] = struct{}{}
	}
}

func (s steps) end(id jsonscan.String) { delete(s, id.Head(cleantext.MaxName)) }

package adapter

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/process"
)

// StreamReader folds what one CLI prints into what a report needs. It folds what all have into the [Stream] that runs it.
type StreamReader interface {
	Line(line []byte)     // one line of stdout, as it comes; not to be kept
	Final() bool          // the final result is there
	Usage() runners.Usage // so far; the whole, once the CLI has told it
	// Used returns the usage with what a run that was cut off has used besides.
	Used(e ProcessEnd) runners.Usage
	// Answer returns the final message for people, the text a result is looked for in, and the structured output.
	Answer() (final, text string, structured []byte)
	// Outcome judges the stream and the end of the process together. badResult says why r has none.
	Outcome(e ProcessEnd, r *runners.Report, badResult error) (runners.Outcome, string)
}

// Stream is what the readers of all CLIs know of an agent.
type Stream struct {
	Req runners.Request
	Now func() time.Time

	Begun    bool // the CLI has told its session
	Answered bool // the model has answered
	Hopeless bool // going on is a waste
	Session  string
	Model    string
	Tools    Tools
	Asked    Requests
	File     SessionLog // of CLIs that tell what they use in a file of their own

	progress progress
	printed  bool // an event was seen
	told     runners.Usage
}

// Start records that the CLI has told its session and, unless it is empty, its model.
func (s *Stream) Start(session, model string) {
	s.Begun, s.Session = true, session
	s.Model = cmp.Or(runners.OneLine(model, runners.MaxName), s.Model)
	s.TellText(runners.EventSession, session)
}

// Ask records that the model is asked. A session file tells of that itself.
func (s *Stream) Ask() {
	if !s.File.Found() {
		s.Asked.Ask()
	}
}

// Write records that the model has written so many characters. A session file tells of that itself.
func (s *Stream) Write(chars int) {
	if !s.File.Found() {
		s.Asked.Answer(chars)
	}
}

// Run runs a CLI that prints a stream of events, and reports what its stream and its end mean together. Its error is for
// faults of relay's own machine.
func (s *Stream) Run(ctx context.Context, sup process.Supervisor, cmd process.Command, r StreamReader) (runners.Report, error) {
	if err := ClearResult(s.Req); err != nil {
		return runners.Report{}, err
	}
	s.Asked.chars += fileSize(s.Req.Prompt)
	w := Process{Supervisor: sup, Command: cmd, Limits: s.Req.Limits}
	w.State = func() ProcessState { return s.meter(r) }
	w.Stopping = func(at time.Time) { s.Asked.stopped = at }
	w.ReadLine = func(line []byte) {
		_, event := JSONObject(line)
		s.printed = s.printed || event
		s.Asked.chars += int64(len(line))
		r.Line(line)
	}
	e, err := w.Run(ctx)
	if err != nil {
		if w.CannotStart(err) {
			return StartFault(err), nil
		}
		return runners.Report{}, err
	}
	s.File.finish()
	report := s.Report(r, e)
	s.quote(e, &report)
	return report, w.Compact()
}

// Report reports what a stream and the end of its process mean together.
func (s *Stream) Report(of StreamReader, e ProcessEnd) runners.Report {
	final, text, structured := of.Answer()
	r := runners.Report{Exit: e.Exit, Session: s.Session, Model: s.Model, FinalText: final, Usage: of.Used(e), Tools: s.Tools.List()}
	var bad error
	if !s.Req.Question {
		r.Result, bad = FindResult(structured, s.Req.Result, text)
	}
	r.Outcome, r.Detail = of.Outcome(e, &r, bad)
	r.Detail = runners.OneLine(JoinDetail(r.Detail, s.Tools.NotAllowed(), LeftBehind(e.Exit)), runners.MaxDetail)
	return r
}

// State returns whether an agent is done, or waiting for it is in vain, and tells the watcher what was held back.
func (s *Stream) State(r StreamReader) ProcessState {
	n := &s.progress
	if n.held {
		Observe(s.Req, n.last.Kind, n.last.summary())
	}
	*n = progress{}
	switch {
	case r.Final():
		return Finished
	case s.Hopeless:
		return Hopeless
	case !s.Answered:
		return AwaitingAnswer
	}
	return Working
}

// meter returns the state, and tells the observer of a stream what it has cost each time that has grown, until the final result
// is there: the report has what that says of the cost, and the agent can no longer be stopped before it is spent.
func (s *Stream) meter(r StreamReader) ProcessState {
	s.File.read()
	state := s.State(r)
	if u := r.Usage(); u != s.told && s.Req.Observe != nil && state != Finished {
		s.told = u
		s.Req.Observe(runners.Event{Kind: runners.EventUsage, Usage: u, Model: s.Model})
	}
	return state
}

// askingPattern matches a line with which a CLI asks a person for something.
var askingPattern = pattern.New(`(?i)\?(?:\s|$)|\by/n\b|\b(?:log|sign) ?in\b|\btrust\b|\bpress \w`)

// quote adds to the report of a CLI that fell silent the last lines it printed, when they are no events. One that had printed no event
// before waits for a person, at a login or another question: it has not started.
func (s *Stream) quote(e ProcessEnd, r *runners.Report) {
	silent := r.Outcome == runners.SilenceLimit || r.Outcome == runners.WallLimit || r.Outcome == runners.Network
	if e.Cause == nil || e.Cancelled || !silent {
		return
	}
	said := lastLines(s.Req.Transcript)
	if err := lastLines(s.Req.Stderr); said == "" && askingPattern.MatchString(err) {
		said = err
	}
	if said == "" {
		return
	}
	if !s.printed {
		r.Outcome = runners.CannotStart
	}
	r.Detail = JoinDetail(`it waits after it printed "`+said+`"`, r.Detail)
}

// lastLines returns the last lines of an output, the unfinished one as well, as one line; "" if an event is the last.
func lastLines(path string) string {
	lines := strings.FieldsFunc(runners.CleanText(End(path, 4<<10), 4<<10), func(c rune) bool { return c == '\n' })
	lines = lines[max(0, len(lines)-3):]
	if n := len(lines); n == 0 || strings.HasPrefix(lines[n-1], "{") {
		return ""
	}
	lines = slices.DeleteFunc(lines, func(s string) bool { return strings.HasPrefix(s, "{") })
	return runners.OneLine(strings.Join(lines, " "), 240)
}

package session

import (
	"errors"
	"io"

	"relay/attempts"
	"relay/cmd/relay/internal/runview"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// end is how a session ended.
type end struct {
	sum  decide.Summary
	err  error
	code int // exit code

	view    *attempts.View // nil: it never began, or the ledger cannot be read
	reading error          // why it cannot
	now     *status.Report // of view
}

// began reports whether anything was recorded of the session.
func (e *end) began() bool { return e.err == nil || e.sum.Reason != "" }

// ended reads how the epic stands now, and keeps the report of the newest run.
func (s *session) ended(sum decide.Summary, err error) *end {
	e := &end{sum: sum, err: err, code: terminal.CodeOfRun(sum, err, s.command.stop.signal())}
	if !e.began() {
		return e
	}
	if e.view, e.reading = attempts.Read(s.project.Dir, nil, nil); e.reading != nil {
		e.view = nil
		return e
	}
	// Before anything is printed: who reads that may take their time.
	runview.KeepReport(s.command.app, s.project, s.plan, runview.Ended{Run: sum.Run, View: e.view})
	e.now = status.AfterRun(s.project, s.plan, e.view)
	return e
}

// summary returns what relay work --json prints of the session.
func (s *session) summary(e *end) status.Summary {
	answer := status.NewSummary(e.sum, e.code, s.reloads)
	if e.err != nil {
		answer.Error = terminal.Message(e.err)
	}
	if e.now != nil {
		answer.Tasks = status.TasksLeft(e.now)
	}
	return answer
}

// print prints how the session went, unless it never began.
func (s *session) print(e *end) {
	if !e.began() {
		return
	}
	s.command.app.Out.Optional = true // the exit code tells of the night, not of the output
	if s.o.JSON {
		_ = s.command.app.PrintJSON(s.summary(e))
	} else {
		s.printText(s.command.app.Out, e)
	}
	w := s.command.app.Out
	if s.o.JSON {
		w = s.command.app.Err
	}
	s.learn(w, e)
}

// printText prints it for a person.
func (s *session) printText(w io.Writer, e *end) {
	if e.now == nil || e.sum.Ended == 0 && errors.As(e.err, new(*attempts.RefusedError)) { // the error says what to do first
		return
	}
	l := status.Printer{Now: s.command.app.Now(), Width: terminal.Columns(s.command.app.Out.Dest), Branch: e.now.Branch, From: e.now.From}
	l.Paint = s.command.app.Out.Palette
	l.Flag = s.project.EpicFlag()
	l.Shared = s.project.Config.Relay.Isolation == string(engine.IsolationShared)
	l.RunSummary(w, e.sum, e.now)
}

// failure returns the exit code of the session as an error; nil when all went well.
func (s *session) failure(e *end) error {
	var none *decide.NoRunnerError
	switch {
	case e.began() && errors.As(e.err, &none):
		return s.withFix(none)
	case e.err != nil:
		return e.err
	case e.reading != nil:
		return e.reading
	case e.code != terminal.OK:
		return terminal.ExitCode(e.code)
	}
	return nil
}

// withFix adds to the error of a run that no runner is left for what its last one needs.
func (s *session) withFix(none *decide.NoRunnerError) error {
	if !verdict.ClassOf(none.Outcome).Refused {
		return none
	}
	fix := status.Fix(s.project, s.plan.Epic.Tasks, none.Runner, none.Outcome, none.Why)
	return &terminal.Hinted{Err: none, Code: terminal.NoRunner, Hint: fix + "; then relay work continues"}
}

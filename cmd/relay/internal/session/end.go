package session

import (
	"errors"
	"fmt"
	"io"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/runview"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/verdict"
)

// end is how a session ended.
type end struct {
	of   *session
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
	e := &end{of: s, sum: sum, err: err, code: terminal.CodeOfRun(sum, err, s.command.stop.signal())}
	if !e.began() {
		return e
	}
	e.tell()
	if e.view, e.reading = attempts.Read(s.project.Dir, nil, nil); e.reading != nil {
		e.view = nil
		return e
	}
	// Before anything is printed: who reads that may take their time.
	runview.KeepReport(s.command.app, s.project, s.plan, e.view, sum.Run)
	e.now = status.AfterRun(s.project, s.plan, e.view)
	return e
}

// summary returns what relay work --json prints of the session.
func (e *end) summary() status.Summary {
	answer := status.NewSummary(e.sum, e.code, e.of.reloads)
	if e.err != nil {
		answer.Error = terminal.Message(e.err)
	}
	if e.now != nil {
		answer.Tasks = status.TasksLeft(e.now)
	}
	return answer
}

// print prints how the session went, unless it never began.
func (e *end) print() {
	if !e.began() {
		return
	}
	a := e.of.command.app
	a.Out.Optional = true // the exit code tells of the night, not of the output
	if e.of.o.JSON {
		_ = a.PrintJSON(e.summary())
		e.learn(a.Err)
		return
	}
	e.printText(a.Out)
	e.learn(a.Out)
}

// printText prints it for a person.
func (e *end) printText(w io.Writer) {
	if e.now == nil || e.sum.Ended == 0 && errors.As(e.err, new(*attempts.RefusedError)) { // the error says what to do first
		return
	}
	cli.Printer(e.of.command.app, e.of.project).RunSummary(w, e.sum, e.now)
}

// failure returns the exit code of the session as an error; nil when all went well.
func (e *end) failure() error {
	var none *decide.NoRunnerError
	switch {
	case e.began() && errors.As(e.err, &none):
		if !verdict.ClassOf(none.Outcome).Refused {
			return none
		}
		fix := status.Fix(e.of.project, e.of.plan.Epic.Tasks, none.Runner, none.Outcome, none.Why)
		return &terminal.Hinted{Err: none, Code: terminal.NoRunner, Hint: fix + "; then relay work continues"}
	case e.err != nil:
		return e.err
	case e.reading != nil:
		return e.reading
	}
	return terminal.Exit(e.code)
}

// learn tells how much was learned when attempts have ended and the epic is complete, and tells of the work that agents found
// when nothing else is left of the run.
func (e *end) learn(w io.Writer) {
	if e.sum.Ended == 0 || e.view == nil {
		return
	}
	if found, _ := runview.NewProposal(e.of.plan.Epic, e.view.Ledger, nil); e.sum.Left == 0 && len(found.Discovered) > 0 {
		fmt.Fprintf(w, "%s of work found and left: relay init --append%s\n", plaintext.Count(len(found.Discovered), "piece"), e.of.project.EpicFlag())
	}
	runview.LearnAtEnd(e.of.project, e.of.plan, e.view.Ledger, w)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
	"relay/orchestrator/report"
	"relay/orchestrator/words"
)

// night is what relay work --json prints when it ends.
type nightAnswer struct {
	Version  int                 `json:"version"`
	Run      string              `json:"run"`
	Reason   string              `json:"reason"`
	Why      string              `json:"why,omitempty"` // of a reason that is a limit of the run
	ExitCode int                 `json:"exit_code"`
	Error    string              `json:"error,omitempty"`
	Seconds  float64             `json:"seconds"`
	Slept    float64             `json:"slept_seconds,omitempty"` // by the machine, besides Seconds
	Attempts int                 `json:"attempts"`                // that ended, as all that follows of every run since the first
	Reloads  int                 `json:"reloads,omitempty"`       // each began another run
	Left     int                 `json:"left"`                    // tasks of the last run that are not completed
	Counts   orchestrator.Counts `json:"counts"`
	Usage    attempts.Usage      `json:"usage"`
	Relapsed []string            `json:"relapsed,omitempty"` // checks of completed tasks, and of the epic, that fail on the integration branch at the end
	Tasks    []taskState         `json:"tasks,omitempty"`    // those that are not completed, at most 100
}

// maxRelapsed bounds the checks that are told at the end of a run; all are notes of it.
const maxRelapsed = 10

// maxLeft bounds the tasks listed at the end of a run.
const maxLeft = 100

// closing tells how the night went, and returns its exit code as an error.
func (n *shift) closing(s orchestrator.Summary, err error, code int) error {
	if err != nil && s.Reason == "" { // it never began
		return err
	}
	out := n.o.app.out
	out.Optional = true // the exit code tells of the night, not of the output
	view, reading := attempts.Read(n.place.Dir, nil, nil)
	var now *standing
	if reading == nil {
		n.keepReport(s.Run, view) // before anything is printed: who reads that may take their time
		now = statusAfterRun(n.place, n.plan, view)
	}
	if n.o.json {
		answer := nightAnswer{
			Version: 1, Run: s.Run, Reason: string(s.Reason), Why: s.Why, ExitCode: code, Seconds: float64(s.Elapsed.Milliseconds()) / 1000, Slept: slept(s.Naps), Attempts: s.Ended, Left: s.Left, Reloads: n.reloads,
			Counts: s.Counts,
			Usage:  s.Usage, Relapsed: s.Relapsed,
		}
		if err != nil {
			answer.Error = exit.Message(err)
		}
		if reading == nil {
			answer.Tasks = unfinished(now)
		}
		_ = n.o.app.printJSON(answer)
	} else if reading == nil && !(s.Ended == 0 && errors.As(err, new(*words.RefusedError))) { // else the error says what to do first
		l := listing{now: n.o.app.now(), width: terminal.Columns(out.Dest), branch: now.Branch, from: now.From}
		l.shared = n.place.Config.Relay.Isolation == string(orchestrator.IsolationShared)
		l.night(out, s, now)
	}
	var none *orchestrator.NoRunnerError
	switch {
	case errors.As(err, &none):
		return withLoginHint(n.place, none)
	case err != nil:
		return err
	case reading != nil:
		return reading
	case code != exit.OK:
		return exit.Code(code)
	}
	return nil
}

// napsText says how much of the night was slept through, in one line.
func napsText(naps []orchestrator.Nap) string {
	text, sum := naps[0].String(), time.Duration(0)
	for _, nap := range naps {
		sum += nap.To.Sub(nap.From)
	}
	if more := len(naps) - 1; more > 0 {
		text += fmt.Sprintf(" and %s after that, %s in all", count(more, "time"), span(sum))
	}
	return text + ": nothing was done then"
}

func slept(naps []orchestrator.Nap) (seconds float64) {
	for _, nap := range naps {
		seconds += nap.To.Sub(nap.From).Seconds()
	}
	return seconds
}

func unfinished(s *standing) []taskState {
	var left []taskState
	for i := range s.Tasks {
		if s.Tasks[i].Status != attempts.Completed && len(left) < maxLeft {
			left = append(left, s.Tasks[i])
		}
	}
	return left
}

// night tells a sleepy person what happened, what needs them, and what to type.
func (l listing) night(w io.Writer, s orchestrator.Summary, now *standing) {
	c := s.Counts
	l.dead = true // the run is over
	fmt.Fprintf(w, "\n%s\n", report.Headline(s.Reason, s.Left))
	if next := report.Next(s.Reason); s.Why != "" {
		l.note(w, s.Why)
		l.note(w, next)
	}
	fmt.Fprintf(w, "tasks  %s %s\n", bar(now.Counts, 20), l.countsText(now.Counts))
	fmt.Fprintf(w, "time   %s, %s\n", span(s.Elapsed), count(s.Ended, "attempt"))
	if len(s.Naps) > 0 {
		l.note(w, napsText(s.Naps))
	}
	if now.PlanChanged {
		l.note(w, "epic.yml has changed since this run began: the next relay work goes by it")
	}
	if u := s.Usage; u != (attempts.Usage{}) {
		fmt.Fprintf(w, "cost   %s\n", words.Usage(u))
	}
	widest, told := 0, 0
	for i := range now.Tasks {
		if now.Tasks[i].Status != attempts.Completed {
			widest = max(widest, len(now.Tasks[i].ID))
		}
	}
	for i := range now.Tasks {
		t := &now.Tasks[i]
		if t.Status == attempts.Completed || (len(now.Tasks) > shortEpic && !urgent(t)) {
			continue
		}
		if told++; told == 1 {
			fmt.Fprintln(w)
		}
		l.task(w, t, widest)
	}
	if now.open() {
		l.needs(w, now)
	}
	tellRelapses(w, s.Relapsed)
	if c.Completed > 0 && s.Ended > 0 {
		fmt.Fprintf(w, "\n%s\n", l.whereabouts())
	}
}

// tellRelapses names the checks that fail on all that has landed.
func tellRelapses(w io.Writer, checks []string) {
	if len(checks) == 0 {
		return
	}
	fmt.Fprintln(w, "\nlook at what fails on all that has landed:")
	for _, text := range checks[:min(len(checks), maxRelapsed)] {
		fmt.Fprintf(w, "  %s\n", safe(text))
	}
}

// whereabouts says where the work is.
func (l listing) whereabouts() string {
	if l.shared {
		return "the work is in this checkout, and relay has committed nothing: git status, git log"
	}
	if l.branch == "" {
		return "the work is on your branch, one or more commits for each task: git log"
	}
	where := "the work is on the branch " + l.branch + ": git log " + l.branch + "\n"
	if l.from == "" {
		return where + "relay finish --into BRANCH lands it on a branch of yours: it began on none, but where HEAD was detached"
	}
	return where + "relay finish lands it on the branch it began from"
}

package status

import (
	"fmt"
	"io"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
	"relay/orchestrator/report"
)

// Summary is what relay work --json prints when it ends.
type Summary struct {
	Version     int            `json:"version"`
	Run         string         `json:"run"`
	Reason      string         `json:"reason"`
	Why         string         `json:"why,omitempty"` // of a reason that is a limit of the run
	ExitCode    int            `json:"exit_code"`
	Error       string         `json:"error,omitempty"`
	Seconds     float64        `json:"seconds"`
	Slept       float64        `json:"slept_seconds,omitempty"` // by the machine, besides Seconds
	Attempts    int            `json:"attempts"`                // that ended, as all that follows of every run since the first
	Reloads     int            `json:"reloads,omitempty"`       // each began another run
	Left        int            `json:"left"`                    // tasks of the last run that are not completed
	Counts      decide.Counts  `json:"counts"`
	Usage       attempts.Usage `json:"usage"`
	Regressions []string       `json:"relapsed,omitempty"` // checks of completed tasks, and of the epic, that fail on the integration branch at the end
	Tasks       []Task         `json:"tasks,omitempty"`    // those that are not completed, at most 100
}

// maxRegressions bounds the checks that relay lists at the end of a run; all are notes of it.
const maxRegressions = 10

// MaxTasks bounds the tasks listed at the end of a run.
const MaxTasks = 100

// NewSummary returns the summary of a run that ended with an exit code.
func NewSummary(s decide.Summary, code, reloads int) Summary {
	return Summary{
		Version: 1, Run: s.Run, Reason: string(s.Reason), Why: s.Why, ExitCode: code, Seconds: float64(s.Elapsed.Milliseconds()) / 1000,
		Slept: suspendedSeconds(s.Suspends), Attempts: s.Ended, Left: s.Left,
		Reloads: reloads, Counts: s.Counts, Usage: s.Usage, Regressions: s.Regressed,
	}
}

// suspendText returns text that says how long the machine was suspended during the run.
func suspendText(suspends []limits.Sleep) string {
	shown, sum := suspends[0].String(), time.Duration(0)
	for _, period := range suspends {
		sum += period.To.Sub(period.From)
	}
	if more := len(suspends) - 1; more > 0 {
		shown += fmt.Sprintf(" and %s after that, %s in all", plaintext.Count(more, "time"), plaintext.Span(sum))
	}
	return shown + ": nothing was done then"
}

func suspendedSeconds(suspends []limits.Sleep) (seconds float64) {
	for _, period := range suspends {
		seconds += period.To.Sub(period.From).Seconds()
	}
	return seconds
}

// TasksLeft returns the tasks that are not completed, at most MaxTasks.
func TasksLeft(s *Report) []Task {
	var left []Task
	for _, t := range s.pick((*Task).open)[:min(s.Counts.Total-s.Counts.Completed, MaxTasks)] {
		left = append(left, *t)
	}
	return left
}

// RunSummary prints what happened in a run, what needs a person, and what to type.
func (l Printer) RunSummary(w io.Writer, s decide.Summary, now *Report) {
	c := s.Counts
	l.Dead = true // the run is over
	headline := l.Paint.Wait
	if c.Completed == c.Total && s.Reason == decide.EpicComplete {
		headline = l.Paint.Good
	}
	fmt.Fprintf(w, "\n%s\n", headline(report.Headline(s.Reason, s.Left)))
	if next := report.Next(s.Reason); s.Why != "" {
		l.note(w, s.Why)
		l.note(w, next)
	}
	fmt.Fprintf(w, "tasks  %s %s\n", l.Paint.Good(Bar(now.Counts, 20)), l.CountsText(now.Counts))
	fmt.Fprintf(w, "time   %s, %s\n", plaintext.Span(s.Elapsed), plaintext.Count(s.Ended, "attempt"))
	if len(s.Suspends) > 0 {
		l.note(w, suspendText(s.Suspends))
	}
	if now.PlanChanged {
		l.note(w, "epic.yml has changed since this run began: the next relay work uses it")
	}
	if u := s.Usage; u != (attempts.Usage{}) {
		fmt.Fprintf(w, "cost   %s\n", report.UsageText(u))
	}
	l.left(w, now)
	if now.hasWork() {
		l.needsYou(w, now)
	} else {
		writeOpen(w, l, now)
	}
	WriteRegressions(w, s.Regressed)
	if c.Completed > 0 && s.Ended > 0 {
		fmt.Fprintf(w, "\n%s\n", l.workLocation())
	}
}

// left lists the tasks that are not completed, of a long epic most in groups.
func (l Printer) left(w io.Writer, now *Report) {
	if now.Counts.Completed == now.Counts.Total {
		return
	}
	fmt.Fprintln(w)
	if l.long(now) {
		l.grouped(w, now, false)
		return
	}
	l.rows(w, now.pick((*Task).open))
}

// WriteRegressions names the checks that fail on all that has landed.
func WriteRegressions(w io.Writer, checks []string) {
	if len(checks) == 0 {
		return
	}
	fmt.Fprintln(w, "\nlook at what fails on all that has landed:")
	for _, shown := range checks[:min(len(checks), maxRegressions)] {
		fmt.Fprintf(w, "  %s\n", plaintext.Escape(shown))
	}
}

// workLocation returns text that says where the work is.
func (l Printer) workLocation() string {
	if l.Shared {
		return "the work is in this checkout, and relay has committed nothing: git status, git log"
	}
	if l.Branch == "" {
		return "the work is on your branch, one or more commits for each task: git log"
	}
	where := "the work is on the branch " + l.Branch + ": git log " + l.Branch + "\n"
	if l.From == "" {
		return where + "relay finish" + l.Flag + " --into BRANCH lands it on a branch of yours: HEAD was detached when it began"
	}
	return where + "relay finish" + l.Flag + " lands it on the branch it began from"
}

// AddRun adds a run to those before it.
func AddRun(before, s decide.Summary) decide.Summary {
	s.Elapsed += before.Elapsed
	s.Ended += before.Ended
	s.Suspends = append(slices.Clip(before.Suspends), s.Suspends...)
	s.Usage.Add(before.Usage)
	return s
}

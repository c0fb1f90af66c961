package status

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
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
		Slept: slept(s.Suspends).Seconds(), Attempts: s.Ended, Left: s.Left,
		Reloads: reloads, Counts: s.Counts, Usage: s.Usage, Regressions: s.Regressed,
	}
}

// slept returns how long the machine was suspended during the run.
func slept(suspends []limits.Sleep) (sum time.Duration) {
	for _, period := range suspends {
		sum += period.To.Sub(period.From)
	}
	return sum
}

// TasksLeft returns the tasks that are not completed, at most MaxTasks.
func TasksLeft(s *Report) []Task {
	var left []Task
	for _, t := range s.pick((*Task).open)[:min(s.Counts.Total-s.Counts.Completed, MaxTasks)] {
		left = append(left, *t)
	}
	return left
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

// AddRun adds a run to those before it.
func AddRun(before, s decide.Summary) decide.Summary {
	s.Elapsed += before.Elapsed
	s.Ended += before.Ended
	s.Suspends = append(slices.Clip(before.Suspends), s.Suspends...)
	s.Usage.Add(before.Usage)
	return s
}

// AskLooks names completed tasks that a person has to look at before they land, on w, and asks whether to go on. It fails for a no.
func AskLooks(w io.Writer, l Printer, json bool, tasks []*Task, confirm func(question string) bool) error {
	if len(tasks) == 0 {
		return nil
	}
	if !json {
		fmt.Fprintln(w, "look at these first:")
		for _, t := range tasks {
			l.look(w, t.row, "")
		}
	}
	if confirm("land them all the same?") {
		return nil
	}
	return &terminal.Hinted{
		Err:  fmt.Errorf("nothing was landed: %s of the epic %s a look", plaintext.Count(len(tasks), "task"), plaintext.Verb(len(tasks), "needs", "need")),
		Hint: "relay approve TASK takes one as it is; relay finish --yes lands them all the same", Code: terminal.Gated,
	}
}

// runText says in words how the newest run stands; looks is how many tasks need a look now.
func runText(r Run, looks int, now time.Time) string {
	switch r.State {
	case neverRan:
		return "none yet"
	case Running:
		shown := "running"
		if !r.StartedAt.IsZero() {
			shown += fmt.Sprintf(" since %s (%s)", FormatTime(r.StartedAt, now), plaintext.Span(now.Sub(r.StartedAt)))
		}
		if !r.Until.IsZero() {
			shown += ", until " + FormatTime(r.Until, now)
		}
		return fmt.Sprintf("%s, process %d on %s", shown, r.PID, r.Host)
	case crashed:
		switch {
		case r.Host != "":
			return fmt.Sprintf("held by process %d on %s, another machine; if it is over, remove the file lock in relay's folder", r.PID, r.Host)
		case r.PID == 0:
			return "the last one was killed; relay work continues"
		}
		return fmt.Sprintf("the last one (process %d) was killed; relay work continues", r.PID)
	}
	why := strings.ReplaceAll(r.Reason, "_", " ")
	switch {
	case r.Reason == string(decide.EpicLooks) && looks == 0:
		why = "completed"
	case r.Reason == string(decide.NoRunnableTasks):
		if why = "nothing is left that can run"; *r.ExitCode == terminal.OK {
			why = "the tasks you named are completed"
		}
	}
	shown := "stopped"
	if !r.StoppedAt.IsZero() {
		shown += " " + FormatTime(r.StoppedAt, now)
	}
	shown += plaintext.Because(why)
	if *r.ExitCode != 0 {
		shown += fmt.Sprintf(" (exit code %d)", *r.ExitCode)
	}
	return shown
}

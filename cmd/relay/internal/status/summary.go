package status

import (
	"fmt"
	"io"
	"slices"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
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
	open := s.pick((*Task).open)
	return each.Of(open[:min(len(open), MaxTasks)], func(t *Task) Task { return *t })
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
		l.Print(w, "", "looks", tasks)
	}
	if confirm("land them all the same?") {
		return nil
	}
	return &terminal.Hinted{
		Err:  fmt.Errorf("nothing was landed: %s of the epic %s a look", plaintext.Count(len(tasks), "task"), plaintext.Verb(len(tasks), "needs", "need")),
		Hint: "relay approve TASK accepts one; relay finish --yes lands them all the same", Code: terminal.Gated,
	}
}

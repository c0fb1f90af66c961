package project

import (
	"fmt"
	"io"
	"slices"

	"relay/epic"
	"relay/orchestrator/text"
)

// TaskWarning records what a task lacks.
type TaskWarning struct {
	Task    string `json:"task"`
	Message string `json:"message"`
}

// Unproved lists the tasks whose work nothing would prove.
func Unproved(e *epic.Epic) []TaskWarning {
	warnings := []TaskWarning{}
	for i := range e.Tasks {
		t := &e.Tasks[i]
		var what string
		switch {
		case len(t.Criteria) == 0 && len(t.Checks) == 0:
			what = "has no acceptance criteria and no checks"
		case len(t.Checks) == 0:
			what = "has no checks: only the agent's word and a reviewer would prove it"
		case len(t.Criteria) == 0:
			what = NoCriteria
		default:
			continue
		}
		warnings = append(warnings, TaskWarning{t.ID, what})
	}
	return warnings
}

// NoCriteria is the warning of a task that has checks and no acceptance criteria.
const NoCriteria = "has no acceptance criteria"

// MaxWarnings is the number of warnings of one kind that are listed.
const MaxWarnings = 10

// WriteWarnings prints the first warnings, and what to do about them.
func WriteWarnings(w io.Writer, warnings []TaskWarning) {
	for i, warning := range warnings {
		if i == MaxWarnings {
			fmt.Fprintf(w, "relay: warning: and %s more\n", text.Count(len(warnings)-i, "task"))
			break
		}
		fmt.Fprintf(w, "relay: warning: %s %s\n", warning.Task, warning.Message)
	}
	unchecked := func(w TaskWarning) bool { return w.Message != NoCriteria }
	switch {
	case slices.ContainsFunc(warnings, unchecked):
		fmt.Fprintln(w, "relay: hint: write the commands that prove a task under its checks: in the epic or blueprint")
	case len(warnings) > 0:
		fmt.Fprintln(w, "relay: hint: say what must be true under the task's acceptance criteria in the epic or blueprint")
	}
}

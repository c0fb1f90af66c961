package project

import "relay/epic"

// TaskWarning says what a task lacks.
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

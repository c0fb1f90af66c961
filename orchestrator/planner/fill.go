package planner

import (
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
)

// Added is what a task has been given that it lacked.
type Added struct {
	Task     string
	Criteria []epic.Criterion
	Checks   []epic.Check
}

// form is the example that an agent is shown.
func form(fill *epic.Epic) string {
	if fill == nil {
		return blueprint.Form
	}
	return fillForm
}

const fillForm = `# Title of the plan

## Implementation Tasks

##### T1: Title of the task
- **Checks:** ` + "`go test ./...`" + `

**Acceptance Criteria:**
- [ ] something that can be checked`

// Incomplete reports whether a task of a plan lacks criteria or checks.
func Incomplete(e *epic.Epic) bool { return len(lacking(e)) > 0 }

// lacking names the tasks that lack criteria or checks, and which.
func lacking(e *epic.Epic) (list []string) {
	for i := range e.Tasks {
		t := &e.Tasks[i]
		var what []string
		if len(t.Criteria) == 0 {
			what = append(what, "Acceptance Criteria")
		}
		if len(t.Checks) == 0 {
			what = append(what, "Checks")
		}
		if what != nil {
			list = append(list, t.ID+" ("+t.Title+"): "+strings.Join(what, " and "))
		}
	}
	return list
}

// fill returns a plan with the criteria and checks that its tasks lack and an answer has. Nothing else of the answer counts.
func fill(plan, answer *epic.Epic) (filled *epic.Epic, added []Added, wrong []string) {
	made := *plan
	filled = &made
	filled.Tasks = slices.Clone(plan.Tasks)
	for i := range answer.Tasks {
		if _, known := plan.Task(answer.Tasks[i].ID); !known {
			wrong = append(wrong, "there is no task "+answer.Tasks[i].ID+" in the plan")
		}
	}
	for i := range filled.Tasks {
		t := &filled.Tasks[i]
		from, given := answer.Task(t.ID)
		if !given {
			from = &epic.Task{}
		}
		a := Added{Task: t.ID}
		if len(t.Criteria) == 0 {
			t.Criteria, a.Criteria = from.Criteria, from.Criteria
			if len(t.Criteria) == 0 {
				wrong = append(wrong, t.ID+" has no acceptance criteria yet")
			}
		}
		if len(t.Checks) == 0 {
			t.Checks, a.Checks = from.Checks, from.Checks
			if len(t.Checks) == 0 {
				wrong = append(wrong, t.ID+" has no checks yet")
			}
		}
		for k := range t.Criteria { // one that was there keeps what it names
			if len(a.Criteria) > 0 && !slices.ContainsFunc(t.Checks, func(c epic.Check) bool { return c.Name == t.Criteria[k].Check }) {
				t.Criteria = slices.Clone(t.Criteria)
				t.Criteria[k].Check = ""
			}
		}
		if len(a.Criteria)+len(a.Checks) > 0 {
			added = append(added, a)
		}
	}
	return filled, added, wrong
}

// tryable returns the plan with only the checks that were added, when some were: the others are their author's.
func tryable(plan *epic.Epic, added []Added) *epic.Epic {
	if added == nil {
		return plan
	}
	made := *plan
	made.Checks = nil
	made.Tasks = slices.Clone(plan.Tasks)
	for i := range made.Tasks {
		t := &made.Tasks[i]
		if !slices.ContainsFunc(added, func(a Added) bool { return a.Task == t.ID && len(a.Checks) > 0 }) {
			t.Checks = nil
		}
	}
	return &made
}

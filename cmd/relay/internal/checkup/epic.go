package checkup

import (
	"fmt"

	"relay/cmd/relay/internal/project"
	"relay/orchestrator/text"
)

// epic reads the plan and says what in it nothing would prove.
func (c *checkup) epic() bool {
	plan, err := c.project.Plan()
	if err != nil {
		c.fail("epic", err)
		return false
	}
	c.plan = plan
	c.add(OK, "epic", fmt.Sprintf("%s, %s", plan.Epic.ID, text.Count(len(plan.Epic.Tasks), "task")), "")
	for i, w := range project.Unproved(plan.Epic) {
		if i == project.MaxWarnings {
			c.add(Warn, "epic", fmt.Sprintf("and %s more like this", text.Count(len(project.Unproved(plan.Epic))-i, "task")), "")
			break
		}
		fix := "write the commands that prove it under checks: in "
		if t, ok := plan.Epic.Task(w.Task); ok && len(t.Checks) > 0 {
			fix = "say what must be true under acceptance_criteria: in "
		}
		c.add(Warn, "epic", w.Task+" "+w.Message, fix+c.project.Rel(c.project.File("epic.yml")))
	}
	return true
}

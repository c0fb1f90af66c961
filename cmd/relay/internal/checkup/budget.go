package checkup

import (
	"errors"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/budget"
)

// budget checks what a run may cost, and whether the caps can be kept.
func (c *checkup) budget() {
	p, caps := c.project, c.project.Caps(c.plan)
	if err := caps.Check(); err != nil {
		d := exit.Diagnose(err)
		c.points = append(c.points, Point{Name: "budget", State: Fail, Message: d.Messages[0], Fix: d.Hint, Code: d.Code})
		return
	}
	if view, err := p.View(c.plan); err == nil {
		if over := budget.EpicExhausted(p.Budget(), view.Ledger); over != nil {
			c.fail("budget", &exit.Hinted{Err: errors.New(over.Error()), Hint: project.RaiseEpicBudget, Code: exit.Stopped})
			return
		}
	}
	for _, text := range caps.UncountedWarning() {
		c.add(Warn, "budget", text, "add their prices (relay.prices), or set relay.budget_usd: 0 for no limit")
	}
	c.add(OK, "budget", caps.Text(), "")
	for _, text := range caps.Reports() {
		c.add(OK, "budget", text, "")
	}
}

package main

import (
	"context"
	"fmt"
	"strings"

	"relay/epic"
	"relay/orchestrator"
)

// tryChecks runs every check once on the commit that a run would begin from, as a run does before each agent.
func (c *checkup) tryChecks(ctx context.Context) {
	if !c.apart() {
		c.add(stateWarn, "checks", "checks are tried with isolation: worktree only: without it they would run in your checkout", "run them yourself")
		return
	}
	view, err := c.place.View(c.plan)
	if err != nil {
		return // that is told already
	}
	if view.Running {
		c.add(stateWarn, "checks", "checks are not tried while a run is on", "relay status --watch")
		return
	}
	if err := c.programs.start(c.app); err != nil {
		c.fail("checks", err)
		return
	}
	work := workOptions{app: c.app}
	o := work.options(ctx, c.place, c.plan)
	o.Supervisor = c.programs.guardian
	tried, unready, err := orchestrator.TryChecks(ctx, o, view.Ledger)
	switch {
	case err != nil:
		c.fail("checks", err)
	case unready != "":
		c.add(stateFail, "checks", "task checkouts cannot be set up: "+unready, "put right relay.worktree")
	default:
		c.triedChecks(tried)
	}
}

// triedChecks tells what the checks came to. One that fails before the work is ordinary.
func (c *checkup) triedChecks(tried []orchestrator.TriedCheck) {
	passed, red := 0, 0
	for _, t := range tried {
		whose := "the epic"
		if len(t.Tasks) > 0 {
			whose = some(t.Tasks, 3)
		}
		state, fix := stateWarn, ""
		var text string
		switch {
		case t.CannotRun != "" && t.Later:
			text, fix = t.CannotRun, "it does not matter if a task before it brings that"
		case t.CannotRun != "":
			state, text = stateFail, t.CannotRun
		case t.Passed && t.Check.Expect == epic.ExpectRedThenGreen && !t.Later:
			text, fix = t.Check.Name+" passes before the work, so it cannot prove it (expect: red_then_green)", "make the check fail as long as the work is not done"
		case t.Passed:
			passed++
			continue
		case len(t.Tasks) == 0:
			text, fix = t.How+" before any work: it proves nothing until it passes", "mend it, or leave it out"
		default:
			red++
			continue
		}
		c.add(state, "checks", whose+": "+text, fix)
	}
	if passed+red > 0 {
		c.add(stateOK, "checks", strings.TrimSpace(fmt.Sprintf("%d run: %d pass, %d fail, as they may before the work", passed+red, passed, red)), "")
	}
}

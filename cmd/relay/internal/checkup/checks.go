package checkup

import (
	"context"
	"fmt"
	"strings"

	"relay/epic"
	"relay/orchestrator/bench"
	"relay/orchestrator/precheck"
	"relay/orchestrator/text"
)

// runChecks runs every check once on the commit that a run would begin from, as a run does before each agent.
func (c *checkup) runChecks(ctx context.Context) {
	view, err := c.project.View(c.plan)
	if err != nil {
		return // that is told already
	}
	if view.Running {
		c.add(Warn, "checks", "checks are not tried while a run is active", "relay status --watch")
		return
	}
	if err := c.programs.start(); err != nil {
		c.fail("checks", err)
		return
	}
	o := c.host.RunOptions(ctx, c.project, c.plan)
	o.Supervisor = c.programs.guardian
	open, err := o.EngineFactory()
	if err != nil {
		c.fail("checks", err)
		return
	}
	tried, err := precheck.TryChecks(ctx, open, o.Local(), view.Ledger)
	switch {
	case err != nil:
		c.fail("checks", err)
	case tried.Unready != "":
		c.add(Fail, "checks", "task checkouts cannot be set up: "+tried.Unready, "correct relay.worktree")
	default:
		c.reportChecks(tried.Checks)
	}
	if len(tried.Changed) > 0 {
		c.add(Warn, "checks", "the checks have changed "+text.Some(tried.Changed, 3)+" in your checkout", "look at git status; git restore puts a file back")
	}
}

// reportChecks reports the results of the checks. One that fails before the work is ordinary.
func (c *checkup) reportChecks(tried []bench.TriedCheck) {
	passed, red := 0, 0
	for _, t := range tried {
		whose := "the epic"
		if len(t.Tasks) > 0 {
			whose = text.Some(t.Tasks, 3)
		}
		state, fix := Warn, ""
		var said string
		switch {
		case t.Hook && !t.Passed:
			c.add(Fail, "hooks", "where nothing has changed, "+text.FirstOf(t.CannotRun, t.How), "no task can land like this: correct the hook, or set relay.hooks: false")
			continue
		case t.Hook:
			continue
		case t.CannotRun != "" && t.Later:
			said, fix = t.CannotRun, "it does not matter if a task before it brings that"
		case t.CannotRun != "":
			state, said = Fail, t.CannotRun
		case t.Passed && t.Check.Expect == epic.ExpectRedThenGreen && !t.Later:
			said, fix = t.Check.Name+" passes before the work, so it cannot prove it (expect: red_then_green)", "make the check fail as long as the work is not done"
		case t.Passed:
			passed++
			continue
		case len(t.Tasks) == 0:
			said, fix = t.How+" before any work: it proves nothing until it passes", "fix it, or remove it"
		default:
			red++
			continue
		}
		c.add(state, "checks", whose+": "+said, fix)
	}
	if passed+red > 0 {
		c.add(OK, "checks", strings.TrimSpace(fmt.Sprintf("%d run: %d pass, %d fail, as they may before the work", passed+red, passed, red)), "")
	}
}

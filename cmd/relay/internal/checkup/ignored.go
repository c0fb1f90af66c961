package checkup

import (
	"context"
	"fmt"

	"relay/orchestrator/precheck"
	"relay/orchestrator/text"
)

// ignored warns of what git ignores and checks probably need: task checkouts lack it. Only running them proves that.
func (c *checkup) ignored(ctx context.Context) {
	view, err := c.project.View(c.plan)
	if err != nil {
		return // that is told already
	}
	o := c.host.RunOptions(ctx, c.project, c.plan)
	lacks, err := precheck.Lacks(ctx, o.Local(), view.Ledger)
	if err != nil {
		c.fail("checks", err)
		return
	}
	for _, l := range lacks {
		c.add(Warn, "checks", fmt.Sprintf("%s: %s probably needs %s (%s), which is ignored by git: task checkouts lack it", text.Some(l.Whose, 3), l.Check, l.What, l.Why),
			l.Set+"; relay check --run tries the checks")
	}
}

package command

import (
	"context"
	"fmt"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/planning"
	"relay/cmd/relay/internal/project"
	"relay/epic/importer"
	"relay/orchestrator/planner"
	"relay/orchestrator/text"
)

// anyPlanner is the name that stands for the first agent that serves.
const anyPlanner = "first"

// complete has an agent write the criteria and checks that tasks of a plan lack, and takes them into it when a person wants that. It
// reports whether the epic is to be written.
func (o initOptions) complete(ctx context.Context, p *project.Project, plan *importer.Plan) (bool, error) {
	a := o.app
	switch {
	case !planner.Incomplete(plan.Epic):
		fmt.Fprintln(a.Err, "relay: all tasks have criteria and checks: no agent is asked")
		return true, nil
	case !o.yes && !o.dryRun && (o.json || !a.CanAsk()):
		return false, &exit.UsageError{
			Message: "stdin is not a terminal: relay cannot ask whether to take what an agent adds", Hint: "pass --yes to take it, or --dry-run to print it",
		}
	}
	encoded, err := plan.Epic.Encode()
	if err != nil {
		return false, err
	}
	options := planning.Options{App: a, Runner: o.planner, Rounds: planning.DefaultRounds, Force: o.force || o.dryRun}
	if o.planner == anyPlanner {
		options.Runner = ""
	}
	wanted := planning.Wanted{Text: string(encoded), From: text.FirstOf(o.blueprint, "issues on GitHub"), Fill: plan.Epic}
	made, err := planning.Make(ctx, options, p, wanted, "relay init --force "+o.blueprint)
	if err != nil {
		return false, err
	}
	if o.json || o.dryRun {
		made.ShowFilled(a.Err)
	} else {
		made.ShowFilled(a.Out)
	}
	if !o.yes && !o.dryRun && !a.Confirm("take this into the epic, and write it?") {
		fmt.Fprintf(a.Out, "nothing is written; without what the agent adds: relay init %s\n", text.ShellWord(o.blueprint))
		return false, nil
	}
	plan.Epic = made.Epic
	return true, nil
}

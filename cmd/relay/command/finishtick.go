package command

import (
	"context"
	"fmt"
	"io"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/planfile"
	"relay/orchestrator/text"
)

// tickSources ticks completed tasks in the plan that they come from, in this checkout.
func (f *finishing) tickSources(ctx context.Context) error {
	on, err := f.project.Git.Branch(ctx)
	if err != nil {
		return err
	}
	if on != f.answer.Into {
		return &exit.Hinted{
			Err:  fmt.Errorf("the work is on %s, which is not checked out here: nothing was ticked", f.answer.Into),
			Hint: "git switch " + text.ShellWord(f.answer.Into) + ", then relay finish --tick",
		}
	}
	f.answer.Ticked, err = planfile.Tick(f.project, f.plan.Epic, f.answer.Landed)
	return err
}

// writeTicked says what was ticked, and what could not be.
func (a *finished) writeTicked(w io.Writer) {
	for _, t := range a.Ticked {
		if len(t.Tasks) > 0 {
			fmt.Fprintf(w, "ticked %s in %s: commit it as you like\n", text.Count(len(t.Tasks), "task"), t.File)
		}
		for _, why := range t.Left {
			fmt.Fprintf(w, "%s: %s\n", t.File, text.Line(why, 200))
		}
	}
}

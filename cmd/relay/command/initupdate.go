package command

import (
	"context"
	"fmt"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/planfile"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/replan"
	"relay/orchestrator/text"
)

// runUpdate brings epic.yml up to date with the plan that it was made of, when a person says so.
func runUpdate(ctx context.Context, opts initOptions, args []string) error {
	a := opts.app
	p, pl, err := a.Planned(ctx, nil)
	if err != nil {
		return err
	}
	r := planfile.Request{From: opts.from, Now: a.Now(), GitHub: opts.github(p)}
	if len(args) > 0 {
		r.Written, r.Path = args[0], a.Path(args[0])
	}
	u, err := replan.Read(ctx, p, pl, r)
	if err != nil {
		return err
	}
	if !opts.json {
		u.Print(a.Out)
	}
	sure, err := opts.sureToUpdate(u)
	if err != nil {
		return err
	}
	if sure {
		if err := u.Write(p); err != nil {
			return err
		}
	}
	return opts.printUpdated(p, pl, u)
}

// sureToUpdate reports whether to write what an update changes.
func (o initOptions) sureToUpdate(u *replan.Update) (bool, error) {
	switch {
	case o.dryRun:
		return false, nil
	case o.yes || u.Tasks() == 0:
		return true, nil
	case o.json || !o.app.CanAsk():
		return false, &exit.UsageError{
			Message: "stdin is not a terminal: relay cannot ask whether to write epic.yml", Hint: "pass --yes to write it, or --dry-run to print what changes",
		}
	}
	return o.app.Confirm("write epic.yml?"), nil
}

func (o initOptions) printUpdated(p *project.Project, pl *project.Plan, u *replan.Update) error {
	a := o.app
	switch {
	case o.json:
		return a.PrintJSON(u)
	case u.Tasks() == 0:
		fmt.Fprintf(a.Out, "epic.yml is up to date with %s\n", text.Line(u.Source, 200))
	case !u.Written:
		fmt.Fprintln(a.Out, "nothing is written")
	default:
		next := "relay work"
		if view, err := p.View(pl); err == nil && view.Running {
			next = "relay reload    the run that is on goes by it then"
		}
		fmt.Fprintf(a.Out, "written: %s\nnext:  %s\n", p.Rel(p.File("epic.yml")), next)
	}
	return nil
}

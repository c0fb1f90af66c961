package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/guardian"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/text"
)

// runWorkList runs the epics of a playlist.
func runWorkList(ctx context.Context, opts workOptions, given *pflag.FlagSet) error {
	switch {
	case len(opts.Tasks) > 0:
		return &exit.UsageError{
			Message: "--playlist runs all tasks of its epics, and takes no TASK",
			Hint:    "relay work " + text.ShellWord(opts.Tasks[0]) + " --epic ID runs a task of one of them",
		}
	case opts.App.Epic != "":
		return &exit.UsageError{Message: "--playlist and --epic do not go together", Hint: "relay work --epic ID runs one epic of the list"}
	}
	flags, err := opts.settings(given)
	if err != nil {
		return err
	}
	if opts.dryRun {
		p, list, err := opts.listed(ctx, flags)
		if err != nil {
			return err
		}
		return opts.dryRunList(ctx, p, list)
	}
	session.CatchPipe()
	t := session.ListTarget{}
	t.Guardian, err = guardian.Start(opts.App, func() (err error) {
		if t.Project, t.List, err = opts.listed(ctx, flags); err != nil {
			return err
		}
		return opts.CheckListAgents(t.List)
	})
	if err != nil {
		return err
	}
	return session.RunList(ctx, &opts.Options, t)
}

// listed finds the place, and reads the list.
func (o *workOptions) listed(ctx context.Context, flags map[string]any) (*project.Project, *project.List, error) {
	p, err := o.App.Locate(ctx, flags)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range p.Config.Warnings {
		fmt.Fprintf(o.App.Err, "relay: warning: %s\n", w)
	}
	path, err := filepath.Abs(o.App.Path(o.playlist))
	if err != nil {
		return nil, nil, err
	}
	list, err := p.ReadList(path)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range list.Warnings {
		fmt.Fprintf(o.App.Err, "relay: warning: %s (%s)\n", exit.Message(w), w.Hint)
	}
	return p, list, nil
}

// listDryRun is what relay work --playlist --dry-run --json prints.
type listDryRun struct {
	Playlist string         `json:"playlist"`
	Name     string         `json:"name"`
	Epics    []listedDryRun `json:"epics"`
}

// listedDryRun is one epic of it.
type listedDryRun struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	File      string         `json:"file"`
	Completed bool           `json:"completed"` // before: it would be passed over
	Plan      *status.DryRun `json:"plan,omitempty"`
}

// dryRunList prints what a run of the list would do, epic by epic, and runs nothing. What would keep one of its epics from beginning is
// looked for as the repository is now.
func (o *workOptions) dryRunList(ctx context.Context, p *project.Project, list *project.List) error {
	answer := listDryRun{Playlist: p.Rel(list.Path), Name: list.Name, Epics: []listedDryRun{}}
	var first error
	for i, e := range list.Listed {
		shown := listedDryRun{ID: e.Plan.Epic.ID, Title: e.Plan.Epic.Title, File: p.Rel(e.Source)}
		done, err := e.Completed()
		if err != nil {
			return err
		}
		if shown.Completed = done; !done {
			refused, err := o.dryRunListed(ctx, list, i, &shown)
			if err != nil {
				return err
			}
			if first == nil && refused != nil {
				first = &exit.WouldRefuse{Err: refused}
			}
		}
		answer.Epics = append(answer.Epics, shown)
		if !o.JSON {
			o.printListed(i, len(list.Listed), &shown)
		}
	}
	if o.JSON {
		return errors.Join(o.App.PrintJSON(answer), first)
	}
	return first
}

// dryRunListed fills in what a run of one epic would do, and returns the error with which it would refuse to begin.
func (o *workOptions) dryRunListed(ctx context.Context, list *project.List, i int, shown *listedDryRun) (refused, err error) {
	e, one := list.Listed[i], *o
	if one.Begin, _, refused = list.Base(ctx, i); refused != nil {
		return refused, nil
	}
	view, err := e.Project.View(e.Plan)
	if err != nil {
		return nil, err
	}
	refused = one.Refusal(ctx, e.Project, e.Plan, view)
	shown.Plan, err = one.dryRunOf(e.Project, e.Plan, view, refused)
	return refused, err
}

func (o *workOptions) printListed(i, of int, shown *listedDryRun) {
	if i > 0 {
		fmt.Fprintln(o.App.Out)
	}
	fmt.Fprintf(o.App.Out, "epic %d of %d: %s\n", i+1, of, shown.Title)
	if shown.Completed {
		fmt.Fprintln(o.App.Out, "completed before")
	} else if shown.Plan != nil {
		shown.Plan.Write(o.App.Out, terminal.Columns(o.App.Out.Dest))
	}
}

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/runview"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// runAppend adds what the review of the whole epic found as tasks, and what agents found and left, when a person says so. It never
// adds what agents found unasked: a night could go on for ever, and an agent could write its own tasks.
func runAppend(ctx context.Context, opts initOptions) (err error) {
	a := opts.app
	p, pl, err := a.Planned(ctx, nil)
	if err != nil {
		return err
	}
	store, err := p.Open(pl)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close(store, pl)) }()
	var found runview.Proposal
	store.View(func(l *attempts.Ledger) {
		if opts.auto {
			found, err = runview.Reviewed(pl.Epic, l)
			return
		}
		found, err = runview.NewProposal(pl.Epic, l, p.Redactor().Text)
	})
	if err != nil {
		return err
	}
	if opts.auto && len(found.Tasks) > 0 {
		if err := found.Allowed(p.Config.QualityGate.EpicRounds); err != nil {
			return err
		}
	}
	if !opts.json {
		found.Write(a.Out, status.Printer{Width: terminal.Columns(a.Out.Dest)})
	}
	sure, err := opts.sure(found.More())
	if err != nil {
		return err
	}
	if sure || len(found.There) > 0 && !opts.dryRun {
		if !sure {
			found.Tasks, found.Discovered = nil, nil
		}
		if _, err := runview.AddProposed(p, store, pl, found); err != nil {
			return err
		}
	}
	return opts.printAppended(p, found, sure)
}

// sure reports whether to add so many tasks.
func (o initOptions) sure(n int) (bool, error) {
	return o.app.Sure(n == 0 || o.dryRun, o.yes || o.auto, o.json, "add "+plaintext.Count(n, "task")+" to epic.yml", "pass --yes to add them, or --dry-run to print them")
}

func (o initOptions) printAppended(p *project.Project, found runview.Proposal, added bool) error {
	out := o.app.Out
	switch {
	case o.json:
		return o.app.PrintJSON(found.Answer(added))
	case added:
		fmt.Fprintf(out, "\nadded to %s\nnext:  relay work\n", p.Rel(p.File("epic.yml")))
	case len(found.There) > 0:
		fmt.Fprintf(out, "\n%s in %s already\nnext:  relay work\n", strings.Join(found.There, ", ")+" "+plaintext.Verb(len(found.There), "is", "are"), p.Rel(p.File("epic.yml")))
	case found.More() == 0:
		fmt.Fprint(out, "\nnothing to add\n")
	case !o.dryRun:
		fmt.Fprint(out, "\nnothing has been added\n")
	}
	return nil
}

package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/epic/plaintext"
)

type reloadOptions struct {
	app  *cli.App
	json bool
}

func newReloadCommand(a *cli.App) *cobra.Command {
	opts := reloadOptions{app: a}
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Apply an edited epic.yml to the current run",
		Long: `Apply an edited epic.yml to the current run. A run keeps the plan it
began with when the file changes. After relay reload it starts no new attempts,
lets the running ones end, and begins again with the new plan, in the same
process and with the same settings. An epic.yml with mistakes is refused, and
the run goes on as before.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runReload(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// reloadAnswer is what relay reload prints with --json.
type reloadAnswer struct {
	Version int      `json:"version"`
	Run     string   `json:"run"`
	PID     int      `json:"pid"`
	Asked   bool     `json:"told"`    // false: the run follows this plan already
	Running []string `json:"running"` // tasks whose attempts come to their end before
	project.PlanChanges
}

func runReload(ctx context.Context, opts reloadOptions) error {
	p, pl, err := opts.app.Planned(ctx, nil)
	if err != nil {
		return err
	}
	if err := project.CheckAgents(p.Agents, pl); err != nil {
		return err
	}
	run, err := project.ActiveRun(ctx, p)
	if err != nil {
		return err
	}
	if have := run.Ledger.EpicID; have != pl.Epic.ID {
		return &attempts.EpicError{Path: p.Rel(p.File(attempts.LedgerFile)), Have: have, Want: pl.Epic.ID}
	}
	answer := reloadAnswer{Version: 1, Run: run.Ledger.Folded.Run, PID: run.Holder.PID, Running: []string{}}
	for id, rec := range run.Ledger.Tasks {
		if rec.Running() != nil {
			answer.Running = append(answer.Running, id)
		}
	}
	slices.Sort(answer.Running)
	source := project.RunPlanSource(p, answer.Run)
	kept, _ := project.ParsePlan(project.RunPlanFile(p, answer.Run), source)
	answer.PlanChanges = project.ComparePlans(kept, pl)
	if !bytes.Equal(source, pl.Source) {
		if _, err := session.Ask(ctx, p, run.Holder, session.Request{What: session.Reload}); err != nil {
			return err
		}
		answer.Asked = true
	}
	if opts.json {
		return opts.app.PrintJSON(answer)
	}
	answer.print(opts.app.Out)
	return nil
}

// print prints what becomes of the run.
func (r *reloadAnswer) print(w io.Writer) {
	if !r.Asked {
		fmt.Fprintf(w, "run %s follows this plan already\n", r.Run)
		return
	}
	if msg := r.PlanChanges.String(); msg != "" {
		fmt.Fprintf(w, "the plan: %s\n", msg)
	}
	if len(r.Running) == 0 {
		fmt.Fprintf(w, "process %d was told to reload, and does so at once\n", r.PID)
		return
	}
	fmt.Fprintf(w, "process %d was told to reload: it starts nothing new, and reloads after %s\n", r.PID, plaintext.Some(r.Running, 5))
}

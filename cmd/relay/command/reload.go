package command

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/epic/plaintext"
)

func newReloadCommand(a *cli.App) *cobra.Command {
	return printing(&cobra.Command{
		Use:   "reload",
		Short: "Apply an edited epic.yml to the current run",
		Long: `Apply an edited epic.yml to the current run. A run keeps the plan it
began with when the file changes. After relay reload it starts no new attempts,
lets the running ones end, and begins again with the new plan, in the same
process and with the same settings. An epic.yml with mistakes is refused, and
the run goes on as before.`,
	}, func(cmd *cobra.Command, _ []string, asJSON bool) error { return runReload(cmd.Context(), a, asJSON) })
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

func runReload(ctx context.Context, a *cli.App, asJSON bool) error {
	p, pl, err := a.Planned(ctx, nil)
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
	return cli.Print(a, asJSON, answer, answer.lines()...)
}

// lines say what becomes of the run.
func (r *reloadAnswer) lines() (lines []string) {
	if !r.Asked {
		return []string{"run " + r.Run + " follows this plan already"}
	}
	if msg := r.PlanChanges.String(); msg != "" {
		lines = append(lines, "the plan: "+msg)
	}
	if len(r.Running) == 0 {
		return append(lines, fmt.Sprintf("process %d was told to reload, and does so at once", r.PID))
	}
	return append(lines, fmt.Sprintf("process %d was told to reload: it starts nothing new, and reloads after %s", r.PID, plaintext.Some(r.Running, 5)))
}

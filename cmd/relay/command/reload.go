package command

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/planning"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/epic/importer"
	"relay/epic/plaintext"
	"relay/orchestrator/planner"
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

type planOptions struct {
	planning.Options

	issues planning.GitHub
	review string
}

func newPlanCommand(a *cli.App) *cobra.Command {
	opts := planOptions{Options: planning.Options{App: a}}
	cmd := &cobra.Command{
		Use:   "plan IDEA|FILE",
		Short: "Have an agent write a plan from an idea, an issue or a rough plan",
		Long: fmt.Sprintf(`Have an agent write a plan: tasks, what they depend on, their files, acceptance
criteria and checks. Describe what you want in words, in a file, on stdin (-),
in a plan of another tool or in issues on GitHub.

The agent only reads and runs commands, in a checkout of its own at HEAD, with
the time and money of one attempt. relay reads its answer as it reads any
blueprint, and runs each check there; a check may fail before the work, but it
has to run. relay lists mistakes, and the agent answers again, --rounds times in
all. Tasks that a document names are kept as they are; the agent adds at most
%d to a document without tasks.

Then relay shows the plan, and asks before it writes epic.yml. Without a
terminal nothing is written, and relay says what to type. --review FILE asks for
what was misread in the plan that the epic was made of, and changes nothing.`, planner.MostTasks),
		Example: `  relay plan 'Users can sign up by mail'
  relay plan docs/idea.md --runner codex
  relay plan --issues 12,15
  relay plan --review docs/plan.md
  gh issue view 12 | relay plan - --yes`,
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.issues.Named() || opts.review != "" {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runPlan(cmd.Context(), opts, args) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.Runner, "runner", "", "the agent that is asked, by `NAME`; by default the first that serves")
	f.StringVar(&opts.Model, "model", "", "its `MODEL`; by default the configured one")
	f.IntVar(&opts.Rounds, "rounds", planning.DefaultRounds, "how often it answers at most, `N`")
	f.Float64Var(&opts.USD, "budget", 0, "what all of it may cost, in `USD`; by default as an attempt")
	f.BoolVar(&opts.Force, "force", false, "replace an epic in progress; the old one is archived")
	f.BoolVarP(&opts.Yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&opts.JSON, "json", false, "print JSON; without --yes nothing is written")
	f.StringVar(&opts.review, "review", "", "read the epic against `FILE`, its plan, and list what was misread")
	f.StringVar(&opts.issues.Milestone, "milestone", "", "what is wanted are the issues of a `MILESTONE` on GitHub, read with gh")
	f.IntSliceVar(&opts.issues.Numbers, "issues", nil, "these issues on GitHub and their parts, by `NUMBER`")
	return cmd
}

func runPlan(ctx context.Context, opts planOptions, args []string) error {
	a := opts.App
	p, err := a.Locate(ctx, nil)
	if err != nil {
		return err
	}
	if opts.review != "" {
		return planning.Review(ctx, opts.Options, p, opts.review)
	}
	wanted, err := planning.Read(ctx, a, p, optional(args), opts.issues.In(p))
	if err != nil {
		return err
	}
	const again = "relay plan --force …"
	made, err := planning.Make(ctx, opts.Options, p, wanted, again)
	if err != nil {
		return err
	}
	planning.AddChecks(&importer.Plan{Epic: made.Epic}, opts.Checks)
	return opts.take(ctx, p, made, again)
}

// take shows the plan, and writes it when a person wants it.
func (o *planOptions) take(ctx context.Context, p *project.Project, made planning.Made, again string) (err error) {
	a, target, answer, branch := o.App, p.Rel(p.File("epic.yml")), made.Answer(p), ""
	if !o.JSON {
		if err := made.Show(a.Out, p); err != nil {
			return err
		}
		for _, run := range o.Checks {
			fmt.Fprintf(a.Out, "a check of all tasks, which was not tried: %s\n", plaintext.Fit(run, 200))
		}
	}
	sure := o.Yes || !o.JSON && a.CanAsk() && a.Confirm("write it as "+target+"?")
	if sure {
		if answer.Archived, branch, err = made.Write(ctx, o.Options, p, again); err != nil {
			return err
		}
		answer.Written = target
	}
	switch {
	case o.JSON:
		return a.PrintJSON(answer)
	case !sure:
		fmt.Fprintf(a.Out, "nothing is written; to make it the epic: %s\n", made.Type(o.Options, p))
		return nil
	}
	planning.WriteArchived(a.Out, answer.Archived, branch)
	fmt.Fprintf(a.Out, "written: %s\n\n%s", answer.Written, nextAfterInit)
	return nil
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/planning"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/importer"
	"relay/epic/plaintext"
	"relay/orchestrator/planner"
	"relay/orchestrator/relayfiles"
)

type initOptions struct {
	app       *cli.App
	blueprint string
	from      string
	issues    planning.GitHub
	adopt     string
	checks    []string
	planner   string // who writes what tasks lack; "" : no agent, anyPlanner: the first usable one

	force, dryRun, append, update, yes, auto, json, group bool
}

func newInitCommand(a *cli.App) *cobra.Command {
	opts := initOptions{app: a}
	cmd := &cobra.Command{
		Use:   "init PLAN",
		Short: "Make an epic from a blueprint, or from a plan of another tool",
		Long: `Make an epic from a blueprint: a markdown document with a title and tasks. Or
from a plan in the form of another tool, given its file or folder: spec-kit,
OpenSpec, Kiro, Task Master, ralph, beads, BMAD, GSD, Claude Code's plan mode,
or any checklist; or of issues on GitHub, read with gh. relay skips
completed items, makes no check from prose, and lists lines that it cannot use.

An agent reads a document of its author's own form better than relay's rules. On
a terminal relay offers to let it, as relay plan FILE does; with --yes, or
without a terminal, relay uses its rules, and says so in its first line.

Without --force an epic in progress is not replaced; with it, the old epic,
its ledger and its runs are moved to archive/, and nothing is lost.

With --planner an agent writes the acceptance criteria and checks that tasks
lack, as for relay plan; nothing else of the plan changes. relay shows the
additions, and writes them after confirmation.

With --append no blueprint is read: what the reviewers of the whole epic found
(quality_gate.epic), and the work that agents found and left, is shown as tasks
and added to epic.yml after confirmation.

With --update the plan is read again, after it was edited, and epic.yml is
brought up to date after confirmation. Tasks keep their ids, and what is done
stays done. Tasks that left the plan stay if they were tried or edited in
epic.yml; gated ones go.`,
		Example: `  relay init docs/plan.md
  relay init docs/plan.md --dry-run      # print epic.yml, write nothing
  relay init specs/001-login --checks 'make test'
  relay init --milestone v1.2            # or --issues 12,15
  relay init docs/plan.md --planner=codex
  relay init --append
  relay init --update`,
		Args: func(cmd *cobra.Command, args []string) error { return opts.named(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case opts.append:
				return runAppend(cmd.Context(), opts)
			case opts.update:
				return runUpdate(cmd.Context(), opts, args)
			case opts.auto:
				return &terminal.UsageError{Message: "--auto needs --append", Hint: "relay init --append --auto"}
			case opts.app.Epic != "":
				return &terminal.UsageError{Message: "--epic needs --append", Hint: "relay init --append --epic " + plaintext.ShellWord(opts.app.Epic)}
			}
			opts.blueprint = optional(args) // none with issues
			return runInit(cmd.Context(), opts)
		},
	}
	addInitFlags(cmd, &opts)
	return cmd
}

func addInitFlags(cmd *cobra.Command, opts *initOptions) {
	cmd.Flags().BoolVar(&opts.force, "force", false, "replace an epic in progress; the old one is archived")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "print the epic and write nothing")
	cmd.Flags().BoolVar(&opts.append, "append", false, "add what reviewers of the whole epic and agents found")
	cmd.Flags().BoolVar(&opts.update, "update", false, "read the plan of the epic again, and bring epic.yml up to date")
	cmd.Flags().BoolVarP(&opts.yes, "yes", "y", false, "do not ask for confirmation, and take what relay proposes")
	cmd.Flags().BoolVar(&opts.group, "group", false, "make one task for each heading of the plan, of the tasks below it")
	cmd.Flags().BoolVar(&opts.auto, "auto", false, "with --append: do not ask, only what reviewers found, at most quality_gate.epic_rounds times")
	cmd.Flags().StringVar(&opts.from, "from", "", "the `FORM` of the plan, if it is not found out: "+strings.Join(planning.FormatNames(), ", "))
	cmd.Flags().StringArrayVar(&opts.checks, "checks", nil, "a `COMMAND` that becomes a check of the epic; may be given several times")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&opts.issues.Milestone, "milestone", "", "make the epic of the issues of a `MILESTONE` on GitHub, with gh")
	cmd.Flags().IntSliceVar(&opts.issues.Numbers, "issues", nil, "make it of these issues on GitHub and their parts, by `NUMBER`")
	cmd.Flags().StringVar(&opts.adopt, "adopt", "", "make an epic whose ledger is gone again: its tasks with commits on `BRANCH` are completed")
	_ = cmd.Flags().MarkHidden("adopt") // hints name it where it helps
	cmd.Flags().StringVar(&opts.planner, "planner", "", "have the agent of this `NAME` write criteria and checks that tasks lack")
	cmd.Flags().Lookup("planner").NoOptDefVal = anyPlanner
	cmd.MarkFlagsMutuallyExclusive("append", "planner")
	cmd.MarkFlagsMutuallyExclusive("append", "force", "update")
	cmd.MarkFlagsMutuallyExclusive("update", "planner")
	cmd.MarkFlagsMutuallyExclusive("update", "checks")
	cmd.MarkFlagsMutuallyExclusive("append", "update", "adopt")
	cmd.MarkFlagsMutuallyExclusive("append", "milestone", "issues", "from")
	cmd.MarkFlagsMutuallyExclusive("append", "update", "group")
}

// named fails unless a plan is named, where one is needed.
func (o *initOptions) named(cmd *cobra.Command, args []string) error {
	if o.append || o.issues.Named() {
		return cobra.NoArgs(cmd, args)
	}
	if o.update {
		return cobra.MaximumNArgs(1)(cmd, args)
	}
	return cobra.ExactArgs(1)(cmd, args)
}

func runInit(ctx context.Context, opts initOptions) error {
	a := opts.app
	p, err := a.Locate(ctx, nil)
	if err != nil {
		return err
	}
	plan, err := opts.read(ctx, p)
	if plan == nil {
		return err
	}
	planning.ProposeGroups(a, plan, opts.yes, !opts.json && !opts.dryRun)
	if opts.planner != "" {
		if write, err := opts.complete(ctx, p, plan); err != nil || !write {
			return err
		}
	}
	e := plan.Epic
	var known *attempts.Accepted
	if opts.adopt != "" {
		e.ID = strings.TrimPrefix(opts.adopt, "relay/")
		if known, err = relayfiles.Adopted(ctx, p.Git, e.ID); err != nil {
			return err
		}
	}
	text, err := e.Encode()
	if err != nil {
		return err
	}
	answer := planning.InitAnswer{
		ID: e.ID, Title: e.Title, Path: p.Rel(p.File("epic.yml")), Tasks: len(e.Tasks), DryRun: opts.dryRun, Warnings: project.Unproved(e),
		Format: plan.Format, Headings: plan.Headings, Boxes: plan.Boxes, Done: plan.Done, Told: plan.Told, Offered: plan.Offered,
	}
	if !opts.dryRun {
		if err := opts.create(ctx, p, plan.Epic, text, &answer); err != nil {
			return err
		}
		if answer.Completed, err = project.Adopt(p, known); err != nil {
			return err
		}
	}
	switch {
	case opts.json:
		return a.PrintJSON(answer)
	case opts.dryRun:
		_, err = a.Out.Write(text)
		planning.WriteTold(a.Err, plan)
		planning.WriteOffered(a.Err, plan, opts.blueprint)
		project.WriteWarnings(a.Err, answer.Warnings)
		return err
	}
	a.WarnBehind(ctx, p)
	planning.WriteTold(a.Out, plan)
	planning.WriteOffered(a.Out, plan, opts.blueprint)
	return printInit(a.Out, plan, answer)
}

// read returns the plan as rules read it; nil if they cannot, or if an agent has read it, as a person at a terminal wanted.
func (o *initOptions) read(ctx context.Context, p *project.Project) (*importer.Plan, error) {
	a := o.app
	plan, err := planning.ReadPlan(ctx, p, planning.PlanRequest{
		Written: o.blueprint, Path: a.Path(o.blueprint), From: o.from, Group: o.group, Checks: o.checks, Now: a.Now(), GitHub: o.issues.In(p),
	})
	if o.from != "" {
		return plan, err
	}
	file, found := planning.FreeDocument(p, o.blueprint, plan, err)
	if file == "" {
		return plan, err
	}
	reader, command := planning.Reader(p), "relay plan "+plaintext.ShellWord(file)
	says := fmt.Sprintf("relay: %s is in its author's own form: rules find %s", plaintext.Fit(file, 200), found)
	if reader != "" {
		says += "; an agent reads such plans better: " + command
	}
	fmt.Fprintln(a.Err, says)
	if reader == "" || !o.mayAsk(p) || !a.Agree("let "+plaintext.Fit(reader, 40)+" read it (about a minute, cents)?") {
		return plan, err
	}
	with := planning.Options{App: a, Rounds: planning.DefaultRounds, Force: o.force, Checks: o.checks, Command: command + " "}
	err = runPlan(ctx, planOptions{Options: with}, []string{file})
	if hinted, ok := errors.AsType[*terminal.Hinted](err); ok {
		hinted.Hint = strings.TrimPrefix(hinted.Hint+"\nread it by rules: relay init "+plaintext.ShellWord(o.blueprint)+" --yes", "\n")
	}
	return nil, err
}

// mayAsk reports whether an agent may be offered: a person can answer, wants nothing that only rules do, and the epic may be made.
func (o *initOptions) mayAsk(p *project.Project) bool {
	byRules := o.yes || o.json || o.dryRun || o.group || o.planner != "" || o.adopt != ""
	return !byRules && o.app.CanAsk() && planning.ArchiveRefusal(p, planning.ArchiveOptions{Force: o.force}) == nil
}

// create writes the epic in the place of an old one, which it archives.
func (o initOptions) create(ctx context.Context, p *project.Project, e *epic.Epic, text []byte, answer *planning.InitAnswer) (err error) {
	how := planning.ArchiveOptions{Again: "relay init --force " + o.blueprint, Force: o.force}
	if answer.Archived, answer.Branch, err = planning.ArchiveOld(ctx, p, how, o.app.Now()); err != nil {
		return err
	}
	return project.CreateEpic(p, e, text)
}

func printInit(w io.Writer, plan *importer.Plan, answer planning.InitAnswer) error {
	e := plan.Epic
	g, err := epic.NewGraph(e)
	if err != nil {
		return err
	}
	planning.WriteArchived(w, answer.Archived, answer.Branch)
	path := g.CriticalPath()
	fmt.Fprintf(w, "%s: %s, %s\n", e.ID, plaintext.Fit(e.Title, 50), plaintext.Count(len(e.Tasks), "task"))
	fmt.Fprintf(w, "longest path: %s", g.ID(path[0]))
	for i, at := range path[1:] {
		if i == 8 {
			fmt.Fprintf(w, " > … (%s in all)", plaintext.Count(len(path), "task"))
			break
		}
		fmt.Fprintf(w, " > %s", g.ID(at))
	}
	fmt.Fprintf(w, "\nwritten: %s\n", answer.Path)
	if answer.Completed != nil {
		fmt.Fprintf(w, "completed, as relay/%s says: %s\n", e.ID, plaintext.Some(answer.Completed, 20))
	}
	planning.WritePeople(w, e)
	project.WriteWarnings(w, answer.Warnings)
	planning.WriteRead(w, plan)
	fmt.Fprintf(w, "\n%s", nextAfterInit)
	return nil
}

// nextAfterInit is what to type once there is an epic.
const nextAfterInit = "next:  relay check    see what could fail\n       relay work     begin\n"

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
		return false, &terminal.UsageError{
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
	wanted := planning.Wanted{Text: string(encoded), From: plaintext.FirstOf(o.blueprint, "issues on GitHub"), Fill: plan.Epic}
	made, err := planning.Make(ctx, options, p, wanted, "relay init --force "+o.blueprint)
	if err != nil {
		return false, err
	}
	out := a.Out
	if o.json || o.dryRun {
		out = a.Err
	}
	made.ShowFilled(out)
	if !o.yes && !o.dryRun && !a.Confirm("take this into the epic, and write it?") {
		fmt.Fprintf(a.Out, "nothing is written; without what the agent adds: relay init %s\n", plaintext.ShellWord(o.blueprint))
		return false, nil
	}
	plan.Epic = made.Epic
	return true, nil
}

// runUpdate brings epic.yml up to date with the plan that it was made of, when a person says so.
func runUpdate(ctx context.Context, opts initOptions, args []string) error {
	a := opts.app
	p, pl, err := a.Planned(ctx, nil)
	if err != nil {
		return err
	}
	r := planning.PlanRequest{From: opts.from, Now: a.Now(), GitHub: opts.issues.In(p)}
	if len(args) > 0 {
		r.Written, r.Path = args[0], a.Path(args[0])
	}
	u, err := planning.ReadUpdate(ctx, p, pl, r)
	if err != nil {
		return err
	}
	if !opts.json {
		u.Print(a.Out)
	}
	sure, err := a.Sure(opts.dryRun, opts.yes || u.Tasks() == 0, opts.json, "write epic.yml", "pass --yes to write it, or --dry-run to print what changes")
	if err != nil {
		return err
	}
	if sure {
		if err := u.Write(p); err != nil {
			return err
		}
	}
	return u.PrintEnd(a, p, opts.json)
}

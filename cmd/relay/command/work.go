package command

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

type workOptions struct {
	session.Options
	dryRun   bool
	playlist string
	from     string
}

func newWorkCommand(a *cli.App) *cobra.Command {
	opts := workOptions{Options: session.Options{App: a, Inside: inside(a)}}
	cmd := &cobra.Command{
		Use:   "work [TASK…]",
		Short: "Run all pending tasks, unattended",
		Long: `Run all pending tasks, unattended, until none is left that can run. With TASK
only these tasks run, and those they depend on.

The plan is read once, at the start; relay reload applies a later edit.

With --playlist the epics of a list run one after the other, each from where the
one before ended; those that are completed are passed over. A deadline and a
budget are those of the whole list.

Ctrl-C once stops cleanly, twice kills the agents, three times ends relay at
once. Whatever happens, the next relay work continues. A lost terminal does not
end the run.`,
		Example: `  relay work
  relay work T4 --runner claude --max-attempts 5
  relay work --until 07:00
  relay work --playlist playlist.yml
  relay work > /dev/null 2> night.log &`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Tasks = args
			begin := opts.App.Now()
			err := opts.run(cmd.Context(), cmd.Flags())
			if err != nil && !opts.dryRun {
				opts.RecordNotBegun(cmd.Context(), begin, err)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.IntP("jobs", "j", 0, "run `N` tasks at a time")
	f.StringSlice("runner", nil, "`NAME`s of the agents to use, in order of preference")
	f.String("model", "", "`MODEL` for tasks that name none")
	f.Int("max-attempts", 0, "gate a task after `N` charged attempts")
	f.String("timeout", "", "`TIME` for one attempt: 30m, 1h, or minutes")
	f.String("until", "", "end the run at `TIME`, even if tasks are left: 07:00, or 8h from now")
	f.StringVar(&opts.from, "from", "", "refuse to begin outside of the night from `TIME` to --until")
	f.Bool("review", false, "review each change")
	f.Bool("no-review", false, "review no change")
	f.String("isolation", "", "where tasks work; `HOW` is worktree, none or shared")
	f.String("sandbox", "", "what agents and checks can reach; `HOW` is auto, require or off")
	f.BoolVar(&opts.NeverAsk, "never-ask", false, "have agents ask you nothing, and wait for no answer")
	f.BoolVar(&opts.AskNow, "ask-now", false, "do not wait for usage limits that agents have reported")
	f.Float64("budget", 0, "start nothing more when this run has cost `USD`; 0: no limit")
	f.BoolVar(&opts.Auto, "auto", false, "also do what the review of the whole epic finds")
	f.StringVar(&opts.playlist, "playlist", "", "run the epics of `FILE`, one after the other")
	f.BoolVar(&opts.dryRun, "dry-run", false, "print what would run, and run nothing")
	f.BoolVar(&opts.JSON, "json", false, "print one JSON object at the end")
	cmd.MarkFlagsMutuallyExclusive("review", "no-review")
	return cmd
}

// run runs one epic or a list, if the time is right.
func (o workOptions) run(ctx context.Context, given *pflag.FlagSet) error {
	if o.from != "" && !o.dryRun {
		if err := project.CheckNight(o.from, given.Lookup("until").Value.String(), o.App.Now()); err != nil {
			return err
		}
	}
	if given.Changed("playlist") {
		return runWorkList(ctx, o, given)
	}
	return runWork(ctx, o, given)
}

// workSettings are the keys of the settings that flags replace.
var workSettings = map[string]string{
	"jobs": "relay.jobs", "runner": "relay.runners", "model": "relay.model", "max-attempts": "relay.max_attempts_per_task",
	"review": "relay.review.enabled", "no-review": "relay.review.enabled", "until": "relay.until", "budget": "relay.budget_usd",
	"isolation": "relay.isolation", "sandbox": "relay.sandbox", "timeout": "relay.timeout_minutes",
}

// settings returns the flags that were given, by the key of the setting they replace.
func settings(given *pflag.FlagSet) (map[string]any, error) {
	flags, failed := map[string]any{}, error(nil)
	given.Visit(func(f *pflag.Flag) {
		key, ok := workSettings[f.Name]
		if !ok {
			return
		}
		text := f.Value.String()
		switch f.Name {
		case "runner":
			flags[key], _ = given.GetStringSlice(f.Name)
		case "no-review":
			flags[key] = text == "false"
		case "timeout":
			flags[key], failed = minutes(text)
		default:
			flags[key] = text
		}
	})
	return flags, failed
}

// minutes reads a duration; a bare number means minutes, as in the configuration.
func minutes(text string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(n * float64(time.Minute)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, &terminal.UsageError{Message: "invalid duration " + terminal.Quote(text), Hint: "write 45m, 1h30m, or a number of minutes"}
	}
	return d, nil
}

func runWork(ctx context.Context, opts workOptions, given *pflag.FlagSet) error {
	flags, err := settings(given)
	if err != nil {
		return err
	}
	if opts.dryRun {
		p, pl, err := opts.planned(ctx, flags)
		if err != nil {
			return err
		}
		return opts.dryRunOnly(ctx, p, pl)
	}
	session.CatchPipe()
	var p *project.Project
	var pl *project.Plan
	guardian, err := cli.StartGuardian(opts.App, func() error {
		if p, pl, err = opts.planned(ctx, flags); err != nil {
			return err
		}
		opts.App.Warn(p.Config.Warnings...)
		opts.App.WarnBehind(ctx, p)
		opts.App.TellTop(p)
		opts.WarnUnsigned(ctx, p)
		opts.TellShared(ctx, p)
		return errors.Join(cli.CheckSandbox(ctx, p, pl.Epic.Tasks), opts.CheckAgents(p, pl))
	})
	if err != nil {
		return err
	}
	return session.Run(ctx, &opts.Options, session.Target{Guardian: guardian, Project: p, Plan: pl})
}

// planned finds the place, its plan, and in it the tasks that the user named.
func (o *workOptions) planned(ctx context.Context, flags map[string]any) (*project.Project, *project.Plan, error) {
	p, pl, err := o.App.Planned(ctx, flags)
	if err != nil {
		return nil, nil, err
	}
	for i, id := range o.Tasks {
		t, err := pl.Task(id)
		if err != nil {
			return nil, nil, err
		}
		o.Tasks[i] = t.ID
	}
	return p, pl, nil
}

// dryRunOnly prints what a run would do and in which order, and runs nothing.
func (o *workOptions) dryRunOnly(ctx context.Context, p *project.Project, pl *project.Plan) error {
	view, err := p.View(pl)
	if err != nil {
		return err
	}
	o.App.Warn(p.Config.Warnings...)
	refused := o.Refusal(ctx, p, pl, view)
	r, err := status.NewDryRun(p, pl, view, status.DryRunOptions{Tasks: o.Tasks, AskNow: o.AskNow, Now: o.App.Now()})
	if err != nil {
		return err
	}
	if refused != nil {
		d := terminal.Diagnose(refused)
		r.Refused = d.Messages[0]
		refused = &terminal.Hinted{Err: errors.New("relay work would refuse: " + strings.Join(d.Messages, "\n")), Code: d.Code, Hint: d.Hint}
	}
	if o.JSON {
		return errors.Join(o.App.PrintJSON(r), refused)
	}
	r.Write(o.App.Out, terminal.Columns(o.App.Out.Dest))
	return refused
}

// runWorkList runs the epics of a playlist.
func runWorkList(ctx context.Context, opts workOptions, given *pflag.FlagSet) error {
	switch {
	case len(opts.Tasks) > 0:
		return &terminal.UsageError{
			Message: "--playlist runs all tasks of its epics, and takes no TASK",
			Hint:    "relay work " + plaintext.ShellWord(opts.Tasks[0]) + " --epic ID runs a task of one of them",
		}
	case opts.App.Epic != "":
		return &terminal.UsageError{Message: "--playlist and --epic do not go together", Hint: "relay work --epic ID runs one epic of the list"}
	case opts.dryRun:
		return &terminal.UsageError{
			Message: "--dry-run is about one epic, and a playlist has several",
			Hint:    "relay work --epic ID --dry-run; relay status --playlist " + plaintext.ShellWord(opts.playlist) + " shows their IDs",
		}
	}
	flags, err := settings(given)
	if err != nil {
		return err
	}
	session.CatchPipe()
	t := session.ListTarget{}
	t.Guardian, err = cli.StartGuardian(opts.App, func() (err error) {
		if t.Project, t.List, err = opts.listed(ctx, flags); err != nil {
			return err
		}
		return errors.Join(cli.CheckSandbox(ctx, t.Project, nil), opts.CheckListAgents(t.List))
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
	o.App.Warn(p.Config.Warnings...)
	list, err := o.App.ReadList(p, o.playlist)
	return p, list, err
}

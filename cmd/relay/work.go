package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/orchestrator"
	"relay/orchestrator/landing"
	"relay/orchestrator/secrets"
	"relay/review"
	"relay/runners/process"
)

type workOptions struct {
	app         *app
	tasks       []string
	jobs        int
	runners     []string
	model       string
	maxAttempts int
	timeout     string
	until       string
	review      bool
	noReview    bool
	isolation   string
	budget      float64
	askNow      bool
	auto        bool
	dryRun      bool
	json        bool

	panel []orchestrator.Reviewer // found by equipped
}

func newWorkCommand(a *app) *cobra.Command {
	opts := workOptions{app: a}
	cmd := &cobra.Command{
		Use:   "work [TASK…]",
		Short: "Run what is pending, unattended",
		Long: `Run what is pending, unattended, until nothing is left that could be done. With
TASK only these tasks run, and what they depend on.

The plan is read once, at the beginning; relay reload has a run read it anew.

Ctrl-C once stops cleanly, twice kills the agents, three times ends relay at
once. Whatever happens, the next relay work continues. A lost terminal does not
end the night.`,
		Example: `  relay work
  relay work T4 --runner claude --max-attempts 5
  relay work --until 07:00
  relay work > /dev/null 2> night.log &`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.tasks = args
			return runWork(cmd.Context(), opts, cmd.Flags())
		},
	}
	f := cmd.Flags()
	f.IntVarP(&opts.jobs, "jobs", "j", 0, "`N` tasks at a time")
	f.StringSliceVar(&opts.runners, "runner", nil, "`NAME`s of the agents to use, in order of preference")
	f.StringVar(&opts.model, "model", "", "`MODEL` for tasks that name none")
	f.IntVar(&opts.maxAttempts, "max-attempts", 0, "gate a task after `N` charged attempts")
	f.StringVar(&opts.timeout, "timeout", "", "`TIME` for one attempt: 30m, 1h, or minutes")
	f.StringVar(&opts.until, "until", "", "end the run at `TIME`, whatever is left: 07:00, or 8h from now")
	f.BoolVar(&opts.review, "review", false, "have each change reviewed")
	f.BoolVar(&opts.noReview, "no-review", false, "have no change reviewed")
	f.StringVar(&opts.isolation, "isolation", "", "where tasks work, `HOW`: worktree, none or shared")
	f.BoolVar(&opts.askNow, "ask-now", false, "ask every agent at once, whatever usage limits were told before")
	f.Float64Var(&opts.budget, "budget", 0, "start nothing more when this run has cost `USD`; 0: no bound")
	f.BoolVar(&opts.auto, "auto", false, "do what the review of the whole epic finds, too")
	f.BoolVar(&opts.dryRun, "dry-run", false, "say what would run, and run nothing")
	f.BoolVar(&opts.json, "json", false, "print one JSON object at the end")
	cmd.MarkFlagsMutuallyExclusive("review", "no-review")
	return cmd
}

// settings are the flags that were given, by the key of the setting they replace.
func (o *workOptions) settings(given *pflag.FlagSet) (map[string]any, error) {
	flags := map[string]any{}
	set := func(flag, key string, value any) {
		if given.Changed(flag) {
			flags[key] = value
		}
	}
	set("jobs", "relay.jobs", o.jobs)
	set("runner", "relay.runners", o.runners)
	set("model", "relay.model", o.model)
	set("max-attempts", "relay.max_attempts_per_task", o.maxAttempts)
	set("review", "relay.review.enabled", o.review)
	set("no-review", "relay.review.enabled", !o.noReview)
	set("until", "relay.until", o.until)
	set("budget", "relay.budget_usd", o.budget)
	set("isolation", "relay.isolation", o.isolation)
	if given.Changed("timeout") {
		wall, err := minutes(o.timeout)
		if err != nil {
			return nil, err
		}
		flags["relay.timeout_minutes"] = wall
	}
	return flags, nil
}

// minutes reads a duration; a bare number means minutes, as in the configuration.
func minutes(text string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(n * float64(time.Minute)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, &exit.UsageError{Message: "invalid duration " + terminal.Quote(text), Hint: "write 45m, 1h30m, or a number of minutes"}
	}
	return d, nil
}

func runWork(ctx context.Context, opts workOptions, given *pflag.FlagSet) error {
	flags, err := opts.settings(given)
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
	unread()
	var p *project.Project
	var pl *project.Plan
	guardian, err := opts.app.guarded(func() error {
		if p, pl, err = opts.planned(ctx, flags); err != nil {
			return err
		}
		for _, w := range p.Config.Warnings {
			fmt.Fprintf(opts.app.err, "relay: warning: %s\n", w)
		}
		return opts.equipped(p, pl)
	})
	if err != nil {
		return err
	}
	return opts.run(ctx, guardian, p, pl)
}

// planned finds the place, its plan, and in it the tasks that the user named.
func (o *workOptions) planned(ctx context.Context, flags map[string]any) (*project.Project, *project.Plan, error) {
	p, pl, err := o.app.planned(ctx, flags)
	if err != nil {
		return nil, nil, err
	}
	for i, id := range o.tasks {
		t, err := pl.Task(id)
		if err != nil {
			return nil, nil, err
		}
		o.tasks[i] = t.ID
	}
	return p, pl, nil
}

// guarded starts a guardian while prepare runs, for the one takes as long as the other, and ends it again when prepare
// fails.
func (a *app) guarded(prepare func() error) (*process.Guardian, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := a.folder()
	if err != nil {
		return nil, err
	}
	a.conceal()
	var guardian *process.Guardian
	var failed error
	var start sync.WaitGroup
	start.Go(func() {
		guardian, failed = process.StartGuardian([]string{self, guardianCommand, folder}, secrets.Without(a.environ), nil)
	})
	start.Go(process.ReserveThreads)
	err = prepare()
	start.Wait()
	switch {
	case failed == nil && err != nil:
		_ = guardian.Close() // it has nothing to tell that matters more
	case failed != nil && err == nil:
		err = failed
	}
	return guardian, err
}

// equipped makes sure before the night that every agent it will need is there. Of the runners to choose from, one is
// enough.
func (o *workOptions) equipped(p *project.Project, pl *project.Plan) error {
	var missing []error
	for _, name := range p.Config.Relay.Runners {
		if _, err := p.Program(name); err != nil {
			missing = append(missing, fmt.Errorf("runner %s: %w", name, err))
		}
	}
	switch n := len(p.Config.Relay.Runners); {
	case n == 0:
		return &exit.Hinted{Err: errors.New("no runner is configured"), Code: exit.NoRunner,
			Hint: "set relay.runners in " + configs.SharedFile + ", or name one: relay work --runner claude"}
	case len(missing) == n:
		return project.NoRunner("", errors.Join(missing...))
	}
	for _, err := range missing {
		fmt.Fprintf(o.app.err, "relay: warning: %v\n", err)
	}
	if err := p.CheckAgents(pl); err != nil {
		return err
	}
	for _, text := range p.Caps(pl).UncountedWarning() {
		fmt.Fprintf(o.app.err, "relay: warning: %s\n", text)
	}
	for _, name := range p.Reviewers() {
		if _, err := p.Program(name); err != nil {
			return project.NoRunner("reviewer "+name+": ", err)
		}
		judge, err := p.Reviewer(name)
		if err != nil {
			return err
		}
		o.panel = append(o.panel, judge)
	}
	return nil
}

// options turns the configuration into what the orchestrator needs.
func (o *workOptions) options(ctx context.Context, p *project.Project, pl *project.Plan) orchestrator.Options {
	c := &p.Config.Relay
	env := project.CommonEnvironment(o.app.environ, c.Env)
	logins := project.LoginEnvironment(o.app.environ, env)
	if c.Push {
		env = append(env, logins...)
	}
	return orchestrator.Options{
		Epic: pl.Epic, Graph: pl.Graph, Plan: pl.Source, Tasks: o.tasks, Root: p.Root, Repo: p.Git, Dir: p.Dir, Vault: p.BackupDir(),
		Files:     configs.Sources{UserFile: project.UserFile(o.app.environ), Dir: p.Root}.Files(),
		Isolation: orchestrator.Isolation(c.Isolation), Worktree: p.Worktrees(), Landing: landing.Mode(c.Landing), Jobs: c.Jobs,
		Runners: c.Runners, NewRunner: p.RunnerFactory(ctx), AgentOf: p.BriefFacts, Model: c.Model, Env: env, CommandEnv: logins, Push: c.Push,
		Secrets: p.Redactor(),
		Limits: orchestrator.Limits{
			MaxAttempts: c.MaxAttemptsPerTask, MaxUncharged: c.MaxUncharged, Wall: c.Timeout, Silence: c.Silence, FirstAnswer: c.FirstAnswer, Linger: c.Linger,
			StopGrace: c.StopGrace, Check: c.CheckTimeout, Backoff: c.Backoff, BackoffMax: c.BackoffMax,
			TaskFaults: c.MaxTaskFaults, OutAfter: c.OutAfterFailures, OutPeriod: c.OutAfter, Patience: c.GiveUp,
			BriefBytes: c.BriefKiB << 10, OutputCap: int64(c.TranscriptMiB) << 20,
			MaxUnchargedRun: c.MaxUnchargedRun, FailedInARow: c.MaxFailedInARow, SameError: c.MaxSameError,
			MaxUndone: c.MaxUndone, RecheckShare: float64(c.RecheckPercent) / 100,
			DiskFloor: int64(c.DiskFloorMiB) << 20, MemoryFloor: int64(c.MemoryFloorMiB) << 20, FloorWait: c.FloorWait,
		},
		Free:     p.FreeGauge(p.BackupDir(), time.Now),
		Budget:   p.Budget(),
		Review:   orchestrator.Review{Reviewers: o.panel, Rounds: c.Review.Rounds, Strictness: review.Strictness(p.Config.QualityGate.Strictness), Wall: c.Review.Timeout, Epic: p.Config.QualityGate.Epic},
		Settings: project.LedgerSettings(p.Config), AskNow: o.askNow, Jitter: rand.N[time.Duration],
		Fault: project.FaultPoints(o.app.lookup(project.FaultVariable)), SlowChecks: project.SlowChecks(o.app.lookup(project.SlowChecksVariable)),
	}
}

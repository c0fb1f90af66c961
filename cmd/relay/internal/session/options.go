package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/cmd/relay/internal/trust"
	"relay/configs"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator"
	"relay/orchestrator/bench"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/limits"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
	"relay/review"
	"relay/runners"
	"relay/runners/process"
)

// Options are what the user wants of a session.
type Options struct {
	App      *cli.App
	Tasks    []string // only these and what they depend on; none: all
	NeverAsk bool     // agents ask no person, and the run waits for no answer
	Followed bool     // another epic begins when this one does not complete: the run waits for no answer
	AskNow   bool     // usage limits that agents reported before do not count
	Auto     bool     // tasks that the review of the whole epic wants are added and done
	JSON     bool     // the summary is printed as JSON
	Begin    string   // commit that the epic begins from in worktrees, if it has not begun yet; "" : the checkout's

	// Inside carries out a command for a process in the sandbox; nil: there are none.
	Inside func(ctx context.Context, p *project.Project, mark string, args []string, input []byte) (answer, warnings string, err error)

	panel []engine.Reviewer // found by CheckAgents
}

// RunOptions returns what the orchestrator needs to know, of the configuration and the user's wishes.
func (o *Options) RunOptions(ctx context.Context, p *project.Project, pl *project.Plan) orchestrator.Options {
	c, box := &p.Config.Relay, cli.Sandbox(ctx, p)
	env := project.CommonEnvironment(o.App.Environ, c.Env)
	logins := project.LoginEnvironment(o.App.Environ, env)
	if c.Push {
		env = append(env, logins...)
	}
	newRunner := func(name string, sup process.Supervisor) (runners.Runner, error) {
		return p.Agents.Runner(ctx, name, cli.AgentSupervisor(ctx, p, sup, name))
	}
	return orchestrator.Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Epic: pl.Epic, Plan: pl.Source, Root: p.Root, Dir: p.Dir, Home: p.Home,
				BackupDir: project.BackupDir(p), Files: configs.Sources{UserFile: project.UserFile(o.App.Environ), Dir: p.Root}.Files(),
				Isolation: engine.Isolation(c.Isolation), Worktree: worktrees(ctx, p), Landing: integration.Mode(c.Landing),
				Commit: c.Commit, Sign: c.Sign, Hook: project.CommitHook(ctx, p),
				Begin: cmp.Or(recordedBase(ctx, p), o.Begin), Jobs: c.Jobs, Env: env, CommandEnv: logins, Push: c.Push, Sandbox: c.Sandbox,
				Limits: engine.Limits{
					RunLimits: attempts.RunLimits{
						MaxAttempts: c.MaxAttemptsPerTask, MaxUncharged: c.MaxUncharged, MaxUndone: c.MaxUndone, TaskFaults: c.MaxTaskFaults,
						OutAfter: c.OutAfterFailures, OutPeriod: c.OutAfter, Patience: c.GiveUp, Backoff: c.Backoff, BackoffMax: c.BackoffMax,
						MaxUnchargedRun: c.MaxUnchargedRun, FailedInARow: c.MaxFailedInARow, SameError: c.MaxSameError,
						DiskFloor: int64(c.DiskFloorMiB) << 20, MemoryFloor: int64(c.MemoryFloorMiB) << 20, FloorWait: c.FloorWait,
					},
					Wall: c.Timeout, Silence: c.Silence, FirstAnswer: c.FirstAnswer, Linger: c.Linger, StopGrace: c.StopGrace, Check: c.CheckTimeout,
					BriefBytes: c.BriefKiB << 10, OutputCap: int64(c.TranscriptMiB) << 20, MaxFile: int64(c.MaxFileMiB) << 20,
					ChecksAtOnce: c.ChecksAtOnce, RecheckShare: float64(c.RecheckPercent) / 100,
				},
				Review: engine.Review{
					Reviewers: o.panel, Rounds: c.Review.Rounds, Strictness: review.Strictness(p.Config.QualityGate.Strictness),
					Wall: c.Review.Timeout, Epic: p.Config.QualityGate.Epic,
				},
				Engine: o.App.Engine,
			},
			Graph: pl.Graph, Repo: p.Git, NewRunner: newRunner, Secrets: p.Redactor(), Allowed: box.Allows, State: project.StateDir(o.App.Environ),
		},
		Policy: decide.Policy{
			Tasks: o.Tasks, Runners: c.Runners, Free: project.FreeGauge(p, project.BackupDir(p), time.Now), Budget: project.Budget(p.Config),
			AskNow: o.AskNow, NeverAsk: o.NeverAsk, NeverWait: o.Followed, Jitter: rand.N[time.Duration],
			SlowChecks: project.SlowChecks(o.App.Lookup(project.SlowChecksVariable)),
		},
		AgentOf: p.Agents.BriefFacts, CLIOf: p.Agents.CLIOf, Model: c.Model,
		Outside: func(name string) bool { return box.Holds("") && !box.Holds(cli.HeldAs(p, name)) },
		Records: p.Records(), Sessions: project.SessionOptions(p, pl), Settings: project.LedgerSettings(p.Config), Head: p.HeadFile(),
		Engines: o.App.Engines, Wire: o.App.Wire, Fault: project.FaultPoints(o.App.Lookup(project.FaultVariable)),
	}
}

// CheckAgents fails when an agent that the run will need is not there. Of the runners to choose from, one is enough: the others are
// warned of. It also finds the reviewers, and must be called before RunOptions for a run.
func (o *Options) CheckAgents(p *project.Project, pl *project.Plan) error {
	warnings, err := o.examineAgents(p, pl)
	o.App.Warn(warnings...)
	return err
}

// examineAgents is CheckAgents, and returns the warnings.
func (o *Options) examineAgents(p *project.Project, pl *project.Plan) (warnings []string, err error) {
	_, missing, err := p.Agents.Usable("relay work --runner claude")
	if err != nil {
		return nil, err
	}
	warnings = each.Of(missing, error.Error)
	if err := project.CheckAgents(p.Agents, pl); err != nil {
		return warnings, err
	}
	warnings = append(warnings, (&project.Caps{Agents: p.Agents, Plan: pl}).UncountedWarning()...)
	for _, name := range p.Agents.Reviewers() {
		if _, err := p.Agents.Program(name); err != nil {
			return warnings, project.NoRunner("reviewer "+name+": ", err)
		}
		judge, err := p.Agents.Reviewer(name)
		if err != nil {
			return warnings, err
		}
		o.panel = append(o.panel, judge)
	}
	return warnings, nil
}

// worktrees returns the settings of isolation worktree, with the names of all that worktrees get a copy of.
func worktrees(ctx context.Context, p *project.Project) engine.Worktree {
	w := p.Worktrees()
	shared, err := project.FindShared(ctx, p)
	if w.Share = shared.Names; err != nil { // TellShared says so
		w.Share = nil
	}
	w.Python = project.PythonFolders(ctx, p)
	if command := slot.SetUpSubmodules(ctx, p.Git); command != "" {
		w.Setup = slices.Concat([]string{command}, w.Setup)
	}
	return w
}

// TellShared says which dependencies worktrees get a copy of, or why they get none.
func (o *Options) TellShared(ctx context.Context, p *project.Project) {
	shared, err := project.FindShared(ctx, p)
	switch {
	case err != nil && ctx.Err() == nil:
		fmt.Fprintf(o.App.Err, "relay: warning: worktrees get no copy of dependencies: %v\n", err)
	case shared.TooMuch != "":
		fmt.Fprintf(o.App.Err, "relay: warning: %s\n", shared.TooMuch)
	case shared.Files > 0:
		fmt.Fprintf(o.App.Err, "relay: every worktree gets a copy of %s\n", shared)
	}
}

// WarnUnsigned says why what the run lands would have no signature, if it should have one. The run begins all the same.
func (o *Options) WarnUnsigned(ctx context.Context, p *project.Project) {
	c := &p.Config.Relay
	if !c.Sign || engine.Isolation(c.Isolation) != engine.IsolationWorktree {
		return
	}
	if err := integration.TrySignature(ctx, p.Git); err != nil && ctx.Err() == nil {
		fmt.Fprintf(o.App.Err, "relay: warning: relay.sign: git cannot sign here by itself, and what lands will have no signature: %s\n", plaintext.Fit(err.Error(), 500))
	}
}

// CheckListAgents is CheckAgents for all epics of a playlist.
func (o *Options) CheckListAgents(list *project.List) error {
	told := map[string]bool{}
	for _, e := range list.Listed {
		examined := *o
		warnings, err := examined.examineAgents(e.Project, e.Plan)
		o.App.Warn(slices.DeleteFunc(warnings, func(text string) bool { return told[text] })...)
		for _, text := range warnings {
			told[text] = true
		}
		if err != nil {
			return fmt.Errorf("epic %s: %w", e.Plan.Epic.ID, err)
		}
	}
	return nil
}

// Refusal returns the error for which relay work would not begin, as far as relay knows before it begins; else nil.
func (o *Options) Refusal(ctx context.Context, p *project.Project, pl *project.Plan, view *attempts.View) error {
	if err := cmp.Or(trust.Ask(ctx, o.App, p, false), errors.Join(cli.CheckSandbox(ctx, p, pl.Epic.Tasks), o.CheckAgents(p, pl))); err != nil {
		return err
	}
	switch {
	case view.Running && view.Holder != nil:
		return &attempts.HeldError{Holder: *view.Holder}
	case view.Wrong != nil:
		return view.Wrong
	}
	c := decide.CountTasks(view.Ledger, pl.Graph)
	if over := limits.EpicExhausted(project.Budget(p.Config), view.Ledger); over != nil && c.Completed < c.Total {
		return &terminal.Hinted{Err: errors.New(over.Error()), Hint: project.RaiseEpicBudget, Code: terminal.Stopped}
	}
	run := o.RunOptions(ctx, p, pl)
	open, err := run.EngineFactory()
	if err != nil {
		return err
	}
	return bench.RefusesEpic(ctx, open, &run.LocalOptions, view.Ledger)
}

// recordedBase returns the commit that an epic of a playlist has begun from while nothing has landed: its integration branch is made
// there if a killed run has not. Else it returns "".
func recordedBase(ctx context.Context, p *project.Project) string {
	if p.EpicFlag() == "" {
		return ""
	}
	view, err := attempts.Read(p.Dir, nil, nil)
	if err != nil {
		return "" // who begins says so
	}
	at, known := view.Ledger.Integration, relayfiles.LedgerViewOf(view.Ledger, p.Dir)
	if known.Over || len(known.Landed)+len(known.Landing) > 0 || at.Base == "" {
		return ""
	}
	if _, err := p.Git.Run(ctx, git.Call{Args: []string{"cat-file", "-e", at.Base + "^{commit}"}}); err != nil {
		return "" // it is gone
	}
	return at.Base
}

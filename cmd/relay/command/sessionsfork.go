package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/attempts/sessions"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/planner"
	"relay/orchestrator/sessionkeeper"
	"relay/orchestrator/verdict"
	"relay/reanchor"
	"relay/reanchor/git"
)

type sessionsForkOptions struct {
	app  *cli.App
	json bool

	turn, query, runner, model, at string
}

func newSessionsForkCommand(a *cli.App) *cobra.Command {
	opts := sessionsForkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "fork TURN --query TEXT",
		Short: "Branch a session at a turn with a new prompt",
		Long: `Branch a session at a turn: an agent gets the conversation up to that turn, and
your query instead of the turn's request. It works in a repository of its own,
at the commit where the attempt began, within the limits of an attempt. relay
keeps its work below refs/relay; it never lands by itself.

The agent gets the record of the conversation, as much of it as fits into a
brief. The old session stays as it is.`,
		Example: "  relay sessions fork 0751cf1f --query 'Do it without a cache.' --runner codex",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.turn = args[0]
			return runSessionsFork(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.query, "query", "", "what the agent is asked, as `TEXT`")
	f.StringVar(&opts.runner, "runner", "", "the agent that goes on, by `NAME`; by default that of the session")
	f.StringVar(&opts.model, "model", "", "its `MODEL`; by default the configured one")
	f.StringVar(&opts.at, "at", "", "the `COMMIT` it begins from; by default that of the attempt")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runSessionsFork(ctx context.Context, opts sessionsForkOptions) error {
	if strings.TrimSpace(opts.query) == "" {
		return &terminal.UsageError{Message: "--query is missing", Hint: "say what the agent is to do instead: --query 'Do it without a cache.'"}
	}
	session.CatchPipe()
	var t session.Target
	var request planner.ForkRequest
	g, err := cli.StartGuardian(opts.app, func() (err error) {
		if t.Project, t.Plan, err = opts.app.PlannedAnyhow(ctx); err != nil {
			return err
		}
		request, err = opts.request(ctx, t.Project, t.Plan)
		return err
	})
	if err != nil {
		return err
	}
	t.Guardian = g
	if err := t.Project.EnsureIgnored(); err != nil {
		return errors.Join(err, g.Close())
	}
	fmt.Fprintf(opts.app.Err, "relay: %s goes on from before turn %s, in a repository of its own at %s\n",
		plaintext.Fit(request.Runner, 40), plaintext.Fit(request.Branch.Turn, 80), plaintext.Head(request.Base, 12))
	done, err := session.RunFork(ctx, opts.app, t, request)
	if err != nil {
		return err
	}
	_, err = sessionkeeper.Import(ctx, project.SessionOptions(t.Project, t.Plan), done.Folder)
	if err == nil {
		err = agentlog.WithSessions(ctx, opts.app, t.Project, func(ledger *sessions.Reader) error {
			list, err := ledger.List(ctx, sessions.Filter{Task: request.ID})
			if len(list) > 0 {
				done.Session = list[0].ID
			}
			return err
		})
	}
	if err != nil {
		fmt.Fprintf(opts.app.Err, "relay: warning: the agents ledger does not have the session: %v\n", err)
	}
	return opts.print(t.Project, request, done)
}

// request makes of the turn, and of what is known of its attempt, what is to be done.
func (o *sessionsForkOptions) request(ctx context.Context, p *project.Project, pl *project.Plan) (r planner.ForkRequest, err error) {
	var from agentlog.Branch
	if err := agentlog.WithSessions(ctx, o.app, p, func(ledger *sessions.Reader) error {
		from, err = agentlog.BranchAt(ctx, ledger, o.turn)
		return err
	}); err != nil {
		return r, err
	}
	r = planner.ForkRequest{
		Run: from.Origin.Run, ID: "fork-" + uuid.NewString()[:8], Title: plaintext.Fit(o.query, 100),
		Runner: o.agent(p, cmp.Or(from.Origin.Agent, from.Session.Source)), Model: o.model,
		Prompt: reanchor.Fork{Query: o.query, Said: from.Said(), By: from.By()},
		Branch: sessionkeeper.Fork{Session: from.Session.ID, Turn: from.Turn.ID, Parent: from.Turn.Parent},
	}
	r.Run = cmp.Or(r.Run, "forks") // of sessions that belong to no run
	if _, err := p.Agents.Program(r.Runner); err != nil {
		return r, project.NoRunner("", err)
	}
	r.Base, err = o.base(ctx, p, pl, from.Origin)
	return r, err
}

// agent is the one that goes on: the named one, that of the session, or, where an agent's CLI has kept the session itself, the first.
func (o *sessionsForkOptions) agent(p *project.Project, source string) string {
	if o.runner != "" {
		return o.runner
	}
	if _, known := p.Config.Relay.Agents[source]; !known && len(p.Config.Relay.Runners) > 0 {
		return p.Config.Relay.Runners[0]
	}
	return source
}

// base is the commit that the agent begins from.
func (o *sessionsForkOptions) base(ctx context.Context, p *project.Project, pl *project.Plan, origin sessions.Origin) (string, error) {
	if o.at != "" {
		out, err := p.Git.Run(ctx, git.Call{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", o.at + "^{commit}"}})
		if err != nil {
			return "", &terminal.Hinted{Err: fmt.Errorf("this repository has no commit %s", plaintext.Fit(o.at, 80)), Hint: "git log --oneline", Code: terminal.Invalid}
		}
		return strings.TrimSpace(string(out)), nil
	}
	view, err := p.View(pl)
	if err != nil {
		return "", err
	}
	if rec := view.Ledger.Record(origin.Task); origin.Attempt > 0 && origin.Attempt <= len(rec.Attempts) {
		if base := rec.Attempts[origin.Attempt-1].Base; base != "" {
			return base, nil
		}
	}
	return "", &terminal.Hinted{Err: errors.New("it is not known at which commit that session began"), Hint: "name one: --at HEAD", Code: terminal.Invalid}
}

// forked is what relay sessions fork --json prints.
type forked struct {
	Version int      `json:"version"`
	ID      string   `json:"id"`
	From    string   `json:"from"` // session
	Turn    string   `json:"turn"`
	Session string   `json:"session,omitempty"` // the new one
	Runner  string   `json:"runner"`
	Base    string   `json:"base"`
	Outcome string   `json:"outcome"`
	Summary string   `json:"summary,omitempty"`
	Ref     string   `json:"ref,omitempty"` // has what it made
	Files   []string `json:"files"`
	Folder  string   `json:"folder"`
	CostUSD float64  `json:"cost_usd,omitempty"`
	Input   int64    `json:"input_tokens,omitempty"`
	Output  int64    `json:"output_tokens,omitempty"`
	Left    []string `json:"left,omitempty"` // in words, what could not be removed
}

// print tells what came of it. A fork that did not succeed is an exit code of its own.
func (o *sessionsForkOptions) print(p *project.Project, r planner.ForkRequest, done planner.ForkResult) error {
	answer := forked{
		Version: 1, ID: r.ID, From: r.Branch.Session, Turn: r.Branch.Turn, Session: done.Session,
		Runner: r.Runner, Base: r.Base,
		Outcome: string(done.Outcome), Summary: plaintext.FirstOf(done.Receipt.Summary, done.Receipt.ErrorSummary), Ref: done.Receipt.Salvage,
		Files: append([]string{}, done.Receipt.FilesChanged...), Folder: p.Rel(done.Folder),
		CostUSD: done.Usage.CostUSD, Input: done.Usage.InputTokens, Output: done.Usage.OutputTokens, Left: done.Stay,
	}
	if done.Over != nil {
		answer.Summary = done.Over.Error()
	}
	var failed error
	if verdict.ClassOf(done.Outcome).Result != attempts.ResultSuccess {
		failed = terminal.ExitCode(terminal.Failure)
	}
	if o.json {
		return errors.Join(o.app.PrintJSON(answer), failed)
	}
	w := o.app.Out
	how := "the fork is done"
	if failed != nil {
		how = "the fork did not succeed (" + answer.Outcome + ")"
	}
	fmt.Fprintln(w, strings.TrimSuffix(how+": "+plaintext.Fit(answer.Summary, 400), ": "))
	if answer.Ref != "" {
		fmt.Fprintf(w, "\nwhat it made: git diff %s %s\n", plaintext.Head(r.Base, 12), answer.Ref)
	} else {
		fmt.Fprintln(w, "\nno file has changed")
	}
	if done.Session != "" {
		fmt.Fprintf(w, "what it said: relay sessions show %s\n", plaintext.ShellWord(done.Session))
	}
	o.app.Warn(done.Stay...)
	return failed
}

package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gittrace"
	"relay/orchestrator/worker/steering"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/process"
)

// agentTurns has the agent work in a checkout, turn after turn, and reads what it reports.
type agentTurns struct{ *checkout }

func turnsIn(c *checkout) agentTurns { return agentTurns{c} }

// agent writes the brief and runs the agent, or reads what an agent left that ended under a killed run.
func (c agentTurns) agent(ctx context.Context, a engine.Attempt, p attemptFiles) (runners.Report, error) {
	if a.Ended {
		sup, cut := afterwards(p)
		return c.run(ctx, a, p, turn{sup: sup, begin: a.NewSession, ended: true, cut: cut})
	}
	if a.Fork != nil {
		forked := a
		forked.Prompt = a.ForkPrompt
		report, err := c.begin(ctx, forked, p, a.Fork)
		if err != nil || report.Outcome != runners.NoSession {
			return report, err
		}
		c.record(ctx, engine.Event{Task: a.Task.ID, Runner: a.Runner, Kind: engine.KindNoFork, Detail: runners.Event{Text: report.Detail}})
	}
	return c.begin(ctx, a, p, nil)
}

// begin writes the brief and runs the agent, in a session that goes on from a place in another one or, without, in a fresh one.
func (c agentTurns) begin(ctx context.Context, a engine.Attempt, p attemptFiles, from *runners.Fork) (runners.Report, error) {
	if err := c.lateBrief(ctx, a, p); ctx.Err() != nil {
		return runners.Report{Outcome: runners.Stopped, Detail: "stopped before the agent began"}, nil //nolint:nilerr // the attempt ends as stopped
	} else if err != nil {
		return runners.Report{}, err
	}
	return c.run(ctx, a, p, turn{sup: c.o.Supervisor, begin: a.NewSession, fork: from})
}

// turn is one run of an attempt's agent.
type turn struct {
	sup     process.Supervisor
	session string         // to go on with; "": a new one
	fork    *runners.Fork  // the new one goes on from there; nil: it begins anew
	begin   string         // the id that a new one is to have; "": its CLI chooses it
	used    runners.Usage  // by that session so far
	ended   bool           // the agent has ended under an earlier run
	cut     bool           // and did so because that run did
	before  attempts.Usage // by the attempt, its reviews included
}

// sum is what the attempt has used with what this turn has used.
func (t turn) sum(u runners.Usage) attempts.Usage {
	all := t.before
	all.Add(engine.UsageOf(u))
	return all
}

func (c agentTurns) run(ctx context.Context, a engine.Attempt, p attemptFiles, t turn) (runners.Report, error) {
	cut := ""
	switch {
	case t.cut && p.used():
		cut = "relay ended while the agent worked" // by a signal, or by an error of its own
	case t.cut:
		cut = "relay ended before the agent began"
	}
	runner, err := c.o.NewRunner(a.Runner, t.sup)
	if err != nil {
		return cutShort(cut, runners.Report{Outcome: runners.CannotStart, Detail: err.Error()}, nil)
	}
	doing := ""
	report, err := runner.Run(ctx, runners.Request{
		Mark: a.Mark(), Dir: c.repo.Root(), Prompt: p.brief, Result: p.result, Transcript: p.transcript, Stderr: p.stderr, End: p.end,
		Schema: runners.ResultSchema(string(a.Task.Kind)), Model: a.Model, Env: c.turnEnv(a, p, t),
		Ended: t.ended, Session: t.session, NewSession: t.begin, Fork: t.fork, Spent: t.used, Unsteered: !t.ended && c.steered(),
		Limits: runners.Limits{
			Wall: a.Wall, Silence: c.o.Limits.Silence, FirstAnswer: c.o.Limits.FirstAnswer,
			Linger: c.o.Limits.Linger, StopGrace: c.o.Limits.StopGrace, TranscriptCap: c.o.Limits.OutputCap,
		},
		Observe: func(e runners.Event) {
			if e.Kind == runners.EventUsage {
				c.emit(engine.Event{Task: a.Task.ID, Kind: engine.KindUsage, Usage: t.sum(e.Usage)})
				return
			}
			if e.Kind == runners.EventText || e.Kind == runners.EventTool {
				doing = e.Text
			}
			c.emit(engine.Event{Task: a.Task.ID, Runner: a.Runner, Kind: engine.KindActivity, Detail: e})
		},
	})
	report.Detail = engine.EndedWhile(report, doing)
	attemptfiles.EndToken(p.result)
	err = errors.Join(err, attemptfiles.MakePrivate(c.o.Secrets, p.result))
	if report.Result != nil {
		result := report.Result.OfKind(string(a.Task.Kind))
		report.Result = &result
	}
	c.used(a, t.sum(report.Usage))
	return cutShort(cut, report, err)
}

// turnEnv returns the environment of a turn's agent. With its token the agent can report to relay mcp until EndToken; where none can be
// made it reports as agents without the server do.
func (c agentTurns) turnEnv(a engine.Attempt, p attemptFiles, t turn) []string {
	env := c.traced(a, c.agentEnv(a, p.result))
	if t.ended {
		return env
	}
	token, err := attemptfiles.NewToken(p.result, a.Mark())
	if err != nil {
		return env
	}
	return append(env, attemptfiles.TokenVariable+"="+token)
}

// afterwards stands in for an agent that ran under a relay that was killed. Cut means that it was cut short, also by a signal: the
// next run ends what is left of this one, and may be faster at it than the guardian, who then knows nothing of it.
func afterwards(p attemptFiles) (sup process.Supervisor, cut bool) {
	exit, err := process.ReadExit(p.end)
	if err != nil {
		exit = process.Exit{Lost: true}
	}
	return process.Ended(exit), exit.Stopped || exit.Lost || exit.Signal != ""
}

// cutShort is the report of an agent that was cut short with its relay: all it says that counts is what was used.
func cutShort(why string, r runners.Report, err error) (runners.Report, error) {
	if why == "" {
		return r, err
	}
	return runners.Report{Outcome: runners.Stopped, Detail: why, Usage: r.Usage, Model: r.Model, Tools: r.Tools}, nil
}

// traced adds to an agent's environment that git writes down its commands. Without the folder git does not. Side by side in
// one checkout it is not asked to: changes belong to no task there.
func (c agentTurns) traced(a engine.Attempt, env []string) []string {
	if c.tree == nil {
		return env
	}
	c.traces, c.turned = filesOf(c.o.Dir, a).traces, true
	if os.MkdirAll(c.traces, 0o700) != nil {
		return env
	}
	return append(env, gittrace.Env(c.traces)...)
}

// lateBrief writes the brief that Brief has left.
func (c agentTurns) lateBrief(ctx context.Context, a engine.Attempt, p attemptFiles) error {
	if c.tree == nil {
		return nil
	}
	return c.brief(ctx, a, p)
}

func (c agentTurns) brief(ctx context.Context, a engine.Attempt, p attemptFiles) error {
	facts, err := c.state(ctx)
	if err != nil {
		return err
	}
	in := a.BriefInput
	in.Facts, in.Base = facts, a.Base
	if err := c.makeRoom(p.brief, p.result, p.transcript, p.stderr, p.end); err != nil {
		return err
	}
	in.Documents, in.Required = filesIn(c.repo.Root(), reanchor.Instructions()), filesIn(c.repo.Root(), in.Required)
	in.Epic.Whole = filepath.Join(c.o.Dir, attempts.RunsDir, a.Run, "epic.yml")
	if !existsIn(c.repo.Root(), in.Epic.Source) {
		in.Epic.Source = "" // not committed, or elsewhere: the agent would look for it in vain
	}
	prompt, told := withoutSecrets(c.o, []byte(a.Prompt)), attempts.Briefed{Bytes: len(a.Prompt)}
	if a.Prompt == "" {
		prompt, told = promptOf(c.o, in)
	}
	if err := os.WriteFile(p.brief, prompt, 0o600); err != nil {
		return err
	}
	told.Dir = c.repo.Root()
	c.record(ctx, engine.Event{Task: a.Task.ID, Attempt: a.Number, Kind: engine.KindBriefed, Briefed: &told})
	return nil
}

// agentEnv is env for an agent. A commit must not ask anybody for a signature, nor git for a password; and in a slot of
// relay's an agent that loses its .git must not find the user's. Who may not push is not logged in anywhere either.
func (c agentTurns) agentEnv(a engine.Attempt, result string) []string {
	env := append(c.env(a, result), "GIT_TERMINAL_PROMPT=0")
	if c.ceiling != "" {
		env = append(env, "GIT_CEILING_DIRECTORIES="+c.ceiling)
	}
	settings := []string{"commit.gpgSign=false"}
	if !c.o.Push {
		settings = append(settings, "credential.helper=") // an empty one takes back those that are configured
	}
	if c.excludes != "" {
		settings = append(settings, "core.excludesFile="+c.excludes)
	}
	return append(env, runners.GitSettings(env, settings...)...)
}

// steered reports whether the configuration of agent CLIs in a checkout is not what the user had when the run began: then
// an agent gets none of it.
func (c agentTurns) steered() bool {
	return c.landedSteering.Load() || steering.Digest(c.repo.Root()) != c.config
}

package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/briefing"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/process"
)

// agent has the attempt's agent work, turn after turn, and reads what it reports.
type agent struct{ t *attempt }

// ask writes the brief and runs the agent, or reads what an agent left that ended under a killed run.
func (ag *agent) ask(ctx context.Context) (runners.Report, error) {
	t := ag.t
	if t.a.Ended {
		sup, cut := afterwards(t.files)
		return ag.turn(ctx, t.files, turn{sup: sup, begin: t.a.NewSession, ended: true, cut: cut})
	}
	if t.a.Fork == nil {
		return ag.briefAndRun(ctx, t.a, nil)
	}
	forked := t.a
	forked.Prompt = t.a.ForkPrompt
	report, err := ag.briefAndRun(ctx, forked, t.a.Fork)
	if err != nil || report.Outcome != runners.NoSession {
		return report, err
	}
	t.run.record(ctx, engine.Event{Task: t.a.Task.ID, Runner: t.a.Runner, Kind: engine.KindNoFork, Detail: runners.Event{Text: report.Detail}})
	return ag.briefAndRun(ctx, t.a, nil)
}

// briefAndRun writes the brief and runs the agent, in a session that continues from a place in another one or, without, in a fresh one.
// Side by side the brief is there already.
func (ag *agent) briefAndRun(ctx context.Context, a engine.Attempt, from *runners.Fork) (runners.Report, error) {
	t := ag.t
	if t.c.tree != nil {
		if err := t.c.brief(ctx, a, t.files); ctx.Err() == nil && err != nil {
			return runners.Report{}, err
		}
	}
	if ctx.Err() != nil {
		return runners.Report{Outcome: runners.Stopped, Detail: "stopped before the agent began"}, nil //nolint:nilerr // the attempt ends as stopped
	}
	return ag.turn(ctx, t.files, turn{sup: t.run.o.Supervisor, begin: a.NewSession, fork: from})
}

// turn is one run of an attempt's agent.
type turn struct {
	sup     process.Supervisor
	session string         // to continue; "": a new one
	fork    *runners.Fork  // the new one continues from there; nil: it begins empty
	begin   string         // the id that a new one is to have; "": its CLI chooses it
	used    runners.Usage  // by that session so far
	ended   bool           // the agent has ended under an earlier run
	cut     bool           // and did so because that run did
	before  attempts.Usage // by the attempt, its reviews included
	wall    bool           // it is only asked for its result
}

// sum is what the attempt has used with what this turn has used.
func (u turn) sum(now runners.Usage) attempts.Usage {
	all := u.before
	all.Add(engine.UsageOf(now))
	return all
}

// later is a further turn in the session of the attempt so far.
func (ag *agent) later(sup process.Supervisor) turn {
	f := &ag.t.f
	return turn{sup: sup, session: f.Session, used: f.Used, before: f.Usage}
}

// turn runs the agent once, with the files p.
func (ag *agent) turn(ctx context.Context, p attemptfiles.Files, u turn) (runners.Report, error) {
	t := ag.t
	cut := ""
	switch {
	case u.cut && p.Used():
		cut = "relay ended while the agent worked" // by a signal, or by an error of its own
	case u.cut:
		cut = "relay ended before the agent began"
	}
	o, a, c := t.run.o, t.a, t.c
	runner, err := o.NewRunner(a.Runner, u.sup)
	if err != nil {
		return cutShort(cut, runners.Report{Outcome: runners.CannotStart, Detail: err.Error()}, nil)
	}
	wall := a.Wall
	if u.wall && (wall <= 0 || resultWall < wall) {
		wall = resultWall
	}
	doing := ""
	report, err := runner.Run(ctx, runners.Request{
		Mark: a.Mark(), Dir: c.repo.Root(), Prompt: p.Brief, Result: p.Result, Transcript: p.Transcript, Stderr: p.Stderr, End: p.End,
		Schema: runners.ResultSchema(string(a.Task.Kind)), Model: a.Model, Env: ag.turnEnv(p, u),
		Ended: u.ended, Session: u.session, NewSession: u.begin, Fork: u.fork, Spent: u.used, Unsteered: !u.ended && c.steered(),
		Limits: runners.Limits{
			Wall: wall, Silence: o.Limits.Silence, FirstAnswer: o.Limits.FirstAnswer,
			Linger: o.Limits.Linger, StopGrace: o.Limits.StopGrace, TranscriptCap: o.Limits.OutputCap,
		},
		Observe: func(e runners.Event) {
			if e.Kind == runners.EventUsage {
				t.run.emit(engine.Event{Task: a.Task.ID, Kind: engine.KindUsage, Usage: u.sum(e.Usage)})
				return
			}
			if e.Kind == runners.EventText || e.Kind == runners.EventTool {
				doing = e.Text
			}
			t.run.emit(engine.Event{Task: a.Task.ID, Runner: a.Runner, Kind: engine.KindActivity, Detail: e})
		},
	})
	report.Detail = verdict.EndedWhile(report, doing)
	attemptfiles.EndToken(p.Result)
	err = errors.Join(err, attemptfiles.MakePrivate(o.Secrets, p.Result))
	if report.Result != nil {
		result := report.Result.OfKind(string(a.Task.Kind))
		report.Result = &result
	}
	t.run.used(a, u.sum(report.Usage))
	return cutShort(cut, report, err)
}

// turnEnv returns the environment of a turn's agent. With its token the agent can report to relay mcp until EndToken; where none can be
// made it reports as agents without the server do.
func (ag *agent) turnEnv(p attemptfiles.Files, u turn) []string {
	t := ag.t
	env := t.c.traced(t.files.Traces, t.c.agentEnv(t.a, p.Result))
	if u.ended {
		return env
	}
	token, err := attemptfiles.NewToken(p.Result, t.a.Mark())
	if err != nil {
		return env
	}
	return append(env, attemptfiles.TokenVariable+"="+token)
}

// afterwards stands in for an agent that ran under a relay that was killed. Cut means that it was cut short, also by a signal: the
// next run ends what is left of this one, and may be faster at it than the guardian, who then knows nothing of it.
func afterwards(p attemptfiles.Files) (sup process.Supervisor, cut bool) {
	exit, err := process.ReadExit(p.End)
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

// brief writes the brief of an attempt.
func (c *checkout) brief(ctx context.Context, a engine.Attempt, p attemptfiles.Files) error {
	facts, err := c.state(ctx)
	if err != nil {
		return err
	}
	o := c.run.o
	in := a.BriefInput
	in.Facts, in.Base = facts, a.Base
	if err := c.run.makeRoom(p.Output()...); err != nil {
		return err
	}
	in.Documents, in.Required = briefing.FilesIn(c.repo.Root(), reanchor.Instructions()), briefing.FilesIn(c.repo.Root(), in.Required)
	in.Epic.Whole = filepath.Join(o.Dir, attempts.RunsDir, a.Run, "epic.yml")
	if !briefing.ExistsIn(c.repo.Root(), in.Epic.Source) {
		in.Epic.Source = "" // not committed, or elsewhere: the agent would look for it in vain
	}
	prompt, holds := briefing.WithoutSecrets(o, []byte(a.Prompt)), attempts.Briefed{Bytes: len(a.Prompt)}
	if a.Prompt == "" {
		prompt, holds = briefing.Held(o, in)
	}
	if err := os.WriteFile(p.Brief, prompt, 0o600); err != nil {
		return err
	}
	holds.Dir = c.repo.Root()
	c.run.record(ctx, engine.Event{Task: a.Task.ID, Attempt: a.Number, Kind: engine.KindBriefed, Briefed: &holds})
	return nil
}

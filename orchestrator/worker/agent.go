package worker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/briefing"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
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
	t.f.Session, t.f.Used = t.a.Session, t.a.Spent
	if t.a.Ended {
		return ag.turn(ctx, t.files, turn{session: t.a.Session, used: t.a.Spent, begin: t.a.NewSession, ended: true})
	}
	if t.a.Session != "" {
		report, err := ag.question(ctx, t.files, reanchor.Answered(t.a.BriefInput), false)
		if err != nil || report.Outcome != runners.NoSession && report.Outcome != runners.ContextExhausted {
			return report, err
		}
		t.f.Session, t.f.Used = "", runners.Usage{}
	}
	if err := t.c.brief(ctx, t.a, t.files); ctx.Err() == nil && err != nil {
		return runners.Report{}, err
	}
	if ctx.Err() != nil {
		return runners.Report{Outcome: runners.Stopped, Detail: "stopped before the agent began"}, nil //nolint:nilerr // the attempt ends as stopped
	}
	return ag.turn(ctx, t.files, turn{begin: t.a.NewSession})
}

// turn is one run of an attempt's agent.
type turn struct {
	session string         // to continue; "": a new one
	begin   string         // the id that a new one is to have; "": its CLI chooses it
	used    runners.Usage  // by that session so far
	ended   bool           // the agent has ended under an earlier run
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
func (t *attempt) later() turn {
	return turn{session: t.f.Session, used: t.f.Used, before: t.f.Usage}
}

// turn runs the agent once, with the files p.
func (ag *agent) turn(ctx context.Context, p relayfiles.Files, u turn) (runners.Report, error) {
	t := ag.t
	o, a, c := t.run.o, t.a, t.c
	sup, cut := o.Supervisor, ""
	if u.ended {
		sup, cut = endedBy(p)
	}
	runner, err := o.NewRunner(a.Runner, sup)
	if err != nil {
		return cutShort(cut, runners.Report{Outcome: runners.CannotStart, Detail: err.Error()}, nil)
	}
	wall := a.Wall
	if u.wall && (wall <= 0 || resultWall < wall) {
		wall = resultWall
	}
	result, err := relayfiles.Out(p.Result, a.Mark(), u.ended)
	if err != nil {
		return runners.Report{}, err
	}
	doing := ""
	req := p.Request(&o.Limits, wall)
	req.Mark, req.Dir, req.Result, req.Model = a.Mark(), c.repo.Root(), result, a.Model
	req.Env = c.agentEnv(a, result)
	req.Schema, req.Unsteered = runners.ResultSchema(string(a.Task.Kind)), !u.ended && c.steered()
	req.Ended, req.Session, req.NewSession, req.Spent = u.ended, u.session, u.begin, u.used
	req.Observe = func(e runners.Event) {
		if e.Kind == runners.EventUsage {
			t.run.events.Emit(engine.Event{Task: a.Task.ID, Kind: engine.KindUsage, Usage: u.sum(e.Usage)})
			return
		}
		if e.Kind == runners.EventText || e.Kind == runners.EventTool {
			doing = e.Text
		}
		t.run.events.Emit(engine.Event{Task: a.Task.ID, Runner: a.Runner, Kind: engine.KindActivity, Detail: e})
	}
	report, err := runner.Run(ctx, req)
	report.Detail = verdict.EndedWhile(report, doing)
	t.large = report.Exit.Heavy && !t.inUsers()
	err = errors.Join(err, relayfiles.Collect(o.Secrets, result, p.Result))
	if report.Result != nil {
		result := report.Result.OfKind(string(a.Task.Kind))
		report.Result = &result
	}
	t.run.events.Emit(engine.Event{Task: a.Task.ID, Kind: engine.KindUsage, Usage: u.sum(report.Usage), Delivered: true})
	return cutShort(cut, report, err)
}

// endedBy returns what knows how an agent of an earlier run has ended, and why it was cut short if that was with its run.
func endedBy(p relayfiles.Files) (sup process.Supervisor, cut string) {
	sup, short := p.Ended()
	switch {
	case short && p.Used():
		cut = "relay ended while the agent worked" // by a signal, or by an error of its own
	case short:
		cut = "relay ended before the agent began"
	}
	return sup, cut
}

// cutShort is the report of an agent that was cut short with its relay: all it says that counts is what was used.
func cutShort(why string, r runners.Report, err error) (runners.Report, error) {
	if why == "" {
		return r, err
	}
	return runners.Report{Outcome: runners.Stopped, Detail: why, Session: r.Session, Usage: r.Usage, Model: r.Model, Tools: r.Tools}, nil
}

// brief writes the brief of an attempt.
func (c *checkout) brief(ctx context.Context, a engine.Attempt, p relayfiles.Files) error {
	facts, err := c.state(ctx)
	if err != nil {
		return err
	}
	o := c.run.o
	in := a.BriefInput
	in.Facts, in.Base = facts, a.Base
	in.Documents, in.Required = briefing.FilesIn(c.repo.Root(), reanchor.Instructions()), briefing.FilesIn(c.repo.Root(), in.Required)
	in.Epic.Whole = filepath.Join(o.Dir, attempts.RunsDir, a.Run, "epic.yml")
	if !briefing.ExistsIn(c.repo.Root(), in.Epic.Source) {
		in.Epic.Source = "" // not committed, or elsewhere: the agent would look for it in vain
	}
	prompt, holds := briefing.WithoutSecrets(o, []byte(a.Prompt)), attempts.Briefed{Bytes: len(a.Prompt)}
	if a.Prompt == "" {
		prompt, holds = briefing.Held(o, in)
	}
	if err := p.Give(o.Dir, prompt); err != nil {
		return err
	}
	holds.Dir = c.repo.Root()
	c.run.events.Record(ctx, engine.Event{Task: a.Task.ID, Attempt: a.Number, Kind: engine.KindBriefed, Briefed: &holds})
	return nil
}

// firstTurn runs the agent from what an earlier attempt has left, if there is anything.
func (ag *agent) firstTurn(ctx context.Context) error {
	t := ag.t
	t.run.guard.Tools.Enter()
	t.end = t.run.guard.Tools.Leave
	if t.a.Ended && t.a.Previous.AwaitsReview() {
		t.begun(collect.AccountOfEarlier(t.a.Previous))
		if t.files.Round(1).Used() { // an agent was given what the reviewers have found
			return ag.followUp(ctx)
		}
		return ag.stillMissing(ctx)
	}
	notes, err := ag.resumeWork(ctx)
	if err != nil {
		return err
	}
	t.f.Notes = append(t.f.Notes, notes...)
	if before := t.a.Previous; before.AwaitsReview() && (t.a.BriefInput.TakenUp > 0 || before.Head == before.Base) {
		t.a.BriefInput.TakenUp = 0 // what findings are about is committed then
		t.begun(collect.AccountOfEarlier(t.a.Previous))
		return nil
	}
	report, err := ag.ask(ctx)
	if err != nil {
		return err
	}
	f := t.f.Turned(report)
	if len(t.a.Task.Checks) > 0 {
		f.Presume(attempts.ResultChecks)
	}
	t.begun(f)
	if !t.a.Ended {
		return nil
	}
	if err := ag.answersLeft(ctx); err != nil {
		return err
	}
	return ag.followUp(ctx)
}

// begun makes f the state of the attempt after its first turn.
func (t *attempt) begun(f collect.Account) {
	f.Receipt.Checks, f.OnBase = t.f.Receipt.Checks, t.f.OnBase
	f.Notes = append(t.f.Notes, f.Notes...)
	t.f = f
	t.turned()
}

// turned has the evidence begin again at the end of a turn.
func (t *attempt) turned() {
	end := t.f.End
	t.ev = verdict.Evidence{Task: t.ev.Task, Ready: t.ev.Ready, Base: t.ev.Base, Leave: t.ev.Leave, End: &end}
	t.tries, t.saved = 0, nil
}

// resumeWork puts what an earlier attempt has left into the checkout again, not committed, so that this one continues from there.
// That is done only if it began where this one begins and nothing is in its way; else the brief says where it is kept.
func (ag *agent) resumeWork(ctx context.Context) (notes []attempts.Note, err error) {
	t := ag.t
	before := &t.a.Previous
	if before.ID == 0 || before.Head == "" || t.c.tree == nil || ctx.Err() != nil {
		return nil, nil //nolint:nilerr // a run that was stopped takes nothing up
	}
	done, err := t.c.tree.ResumeWork(ctx, t.a.Base, before.Head, verdict.IsUnfinished(before))
	if err != nil || !done {
		return nil, err
	}
	t.a.BriefInput.TakenUp = before.ID
	return []attempts.Note{{Kind: "salvage", Text: verdict.GoesOnFrom(before)}}, nil
}

// followUp takes an attempt of a killed run beyond its agent's first turn, as far as it had come: what reviews and further
// turns have used is counted, and a turn that was cut short ends the attempt, with its findings for the next one.
func (ag *agent) followUp(ctx context.Context) error {
	t := ag.t
	reviews, err := t.c.panelSession(t.a, t.files.Review).UsedBefore(ctx)
	if err != nil {
		return err
	}
	t.f.Usage.Add(reviews)
	last := 0
	for t.files.Round(last + 1).Used() {
		last++
	}
	for n := 1; n <= last; n++ {
		again := t.files.Round(n)
		u := t.later()
		u.ended = true
		report, err := ag.turn(ctx, again, u)
		if err != nil {
			return err
		}
		next := t.f.Turned(report)
		if !t.f.End.Claims() || !t.f.Recall(t.a.ReviewProgress, n) {
			t.f.Spend(next.Result)
			continue
		}
		t.f.Follow(next)
	}
	t.turned()
	return nil
}

// stillMissing is what came of an attempt that was nothing but a review, when relay was killed meanwhile: its work waits
// for the review as before.
func (ag *agent) stillMissing(ctx context.Context) (err error) {
	t := ag.t
	t.f.End = verdict.TurnEnd{Is: runners.Stopped, Said: "relay ended while the work was reviewed"}
	before := *t.a.Previous.Receipt.Review
	if t.a.ReviewProgress != nil {
		before.Opinions = slices.Concat(before.Opinions, t.a.ReviewProgress.Opinions)
	}
	t.f.Receipt.Review = &before
	t.f.Usage, err = t.c.panelSession(t.a, t.files.Review).UsedBefore(ctx)
	t.turned()
	return err
}

// resultWall bounds the turn in which an agent is asked for its result.
const resultWall = 5 * time.Minute

// askResult asks the session of an agent without a result for the result alone, once.
func (ag *agent) askResult(ctx context.Context) error {
	t := ag.t
	brief := reanchor.AskResult(t.a.BriefInput, t.f.End.Words(), t.f.Head != "" && t.f.Head != t.a.Base)
	report, err := ag.question(ctx, t.files.Question(), brief, true)
	if err == nil {
		t.f.Answer(report)
		t.turned()
	}
	return err
}

// question has the agent work again, told brief; with wall it has little time to answer.
func (ag *agent) question(ctx context.Context, q relayfiles.Files, brief []byte, wall bool) (runners.Report, error) {
	t := ag.t
	if err := q.Give(t.run.o.Dir, briefing.WithoutSecrets(t.run.o, brief)); err != nil {
		return runners.Report{}, err
	}
	u := t.later()
	u.wall = wall
	return ag.turn(ctx, q, u)
}

// askWhy asks the agent once why it changed tests, or added a secret or a file, that the task does not name; it may undo that.
func (ag *agent) askWhy(ctx context.Context) error {
	t := ag.t
	seen := verdict.Questions(&t.ev)
	report, err := ag.resumed(ctx, func(ctx context.Context) (runners.Report, error) {
		return ag.question(ctx, t.files.Why(), reanchor.AskWhy(t.a.BriefInput, seen, t.f.Session != ""), false)
	})
	if err == nil {
		t.f.Explain(report)
		t.turned()
	}
	return err
}

// answersLeft reads what an agent answered that was asked for its result, or about tests, by a relay that was killed.
func (ag *agent) answersLeft(ctx context.Context) error {
	t := ag.t
	for _, q := range []relayfiles.Files{t.files.Question(), t.files.Why()} {
		if !q.Used() {
			continue
		}
		u := t.later()
		u.ended = true
		report, err := ag.turn(ctx, q, u)
		switch why := q == t.files.Why(); {
		case err != nil:
			return err
		case why && t.f.End.Claims():
			t.f.Explain(report)
		case !why && t.f.End.Undecided():
			t.f.Answer(report)
		default:
			t.f.Spend(collect.AccountOf(report).Result)
		}
	}
	t.turned()
	return nil
}

// rework gives the findings of a review back to the agent.
func (ag *agent) rework(ctx context.Context) error {
	t := ag.t
	round := attempts.Round{Number: t.f.Rounds + 1, Head: t.f.Judged, Verdict: t.f.Receipt.Verdict, Wanted: t.f.Wanted}
	shared := t.run.panel()
	if err := shared.Record(t.a, attempts.ReviewProgress{Rounds: []attempts.Round{round}}); err != nil {
		return err
	}
	report, err := ag.resumed(ctx, ag.giveFindings)
	if err != nil {
		return err
	}
	t.f.Follow(t.f.Turned(report))
	t.turned()
	return nil
}

// resumed asks the agent in its session, or in a fresh one when that one cannot continue.
func (ag *agent) resumed(ctx context.Context, ask func(context.Context) (runners.Report, error)) (runners.Report, error) {
	f, c := &ag.t.f, ag.t.c
	if c.ceiling == "" { // what checks and reviewers have left in the user's checkout is not the agent's work
		if err := c.tree.Restore(ctx, f.Head); err != nil {
			return runners.Report{}, err
		}
	}
	report, err := ask(ctx)
	if err != nil || f.Session == "" || report.Outcome != runners.NoSession && report.Outcome != runners.ContextExhausted {
		return report, err
	}
	f.Spend(f.Turned(report).Result)
	f.Session, f.Used = "", runners.Usage{}
	return ask(ctx)
}

// giveFindings gives the agent the findings of the last review.
func (ag *agent) giveFindings(ctx context.Context) (runners.Report, error) {
	t := ag.t
	number, rounds := t.f.Rounds+1, t.run.o.Review.Rounds
	again := t.files.Round(number)
	facts, err := t.c.state(ctx)
	if err != nil {
		return runners.Report{}, err
	}
	known := t.a.BriefInput
	known.Facts, known.Base = facts, t.a.Base
	findings := t.f.Receipt.Findings + t.f.TellUnproved()
	brief := reanchor.Rework{Findings: findings, Round: number, Of: rounds, Resumed: t.f.Session != ""}.Brief(known)
	t.run.events.Emit(engine.Event{
		Task: t.a.Task.ID, Kind: engine.KindMending, Detail: runners.Event{Text: fmt.Sprintf("round %d of %d", number, rounds)},
	})
	return ag.question(ctx, again, brief, false)
}

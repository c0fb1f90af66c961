package checkup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/configs"
	"relay/epic"
	"relay/internal/plaintext"
	"relay/orchestrator/text"
	"relay/orchestrator/verdict"
	"relay/runners"
	"relay/runners/kinds"
)

// patience is how long an agent may take, which the configuration can shorten.
func (c *checkup) patience() time.Duration {
	most := askPatience
	for _, limit := range []time.Duration{c.project.Config.Relay.Timeout, c.project.Config.Relay.FirstAnswer} {
		if limit > 0 {
			most = min(most, limit)
		}
	}
	return most
}

// askPatience is how long an agent may take for its answer. The slowest that was seen, a CLI in its first run after an update, took 20
// seconds.
const askPatience = 60 * time.Second

// question is all that an agent is asked.
const question = "Answer with the word OK and nothing else. Use no tools, read no files.\n"

// asked is an agent with a model, and what came of asking it.
type asked struct {
	name, model string
	reviewer    bool
	took        time.Duration
	report      runners.Report
	err         error
}

// label is the name of its point.
func (a asked) label() string {
	if a.reviewer {
		return reviewLabel + a.name
	}
	return "runner " + a.name
}

// ask sends every agent that a run would use one tiny request, all at the same time, each in an empty folder of its own. It is no
// attempt: nothing is recorded, and nothing in the checkout is read or written.
func (c *checkup) ask(ctx context.Context) {
	agents := c.agentsToAsk()
	if len(agents) == 0 {
		return
	}
	if err := c.programs.start(); err != nil {
		c.fail("ask", err)
		return
	}
	var wait sync.WaitGroup
	for i := range agents {
		a := &agents[i]
		wait.Go(func() { a.err = c.askOne(ctx, a, filepath.Join(c.programs.dir, "ask-"+strconv.Itoa(i))) })
	}
	wait.Wait()
	able := slices.ContainsFunc(agents, func(a asked) bool { return !a.reviewer && a.answers() })
	for _, a := range agents {
		p := c.answered(a)
		if p.State == Fail && able && !a.reviewer && slices.Contains(c.project.Config.Relay.Runners, a.name) {
			p.State = Warn // of those to choose from one is enough
		}
		c.points = append(c.points, p)
	}
}

// agentsToAsk returns the runners, those that tasks insist on, and the reviewers, each with the models that it would be asked for. Those
// whose program is missing are told already.
func (c *checkup) agentsToAsk() (agents []asked) {
	add := func(name, model string, reviewer bool) {
		own, ok := c.askable(name)
		if !ok {
			return
		}
		a := asked{name: name, model: cmp.Or(model, own.Model), reviewer: reviewer}
		if !slices.ContainsFunc(agents, func(b asked) bool { return b.name == a.name && b.model == a.model && b.reviewer == a.reviewer }) {
			agents = append(agents, a)
		}
	}
	names, model := c.project.Config.Relay.Runners, c.project.Config.Relay.Model
	for _, name := range names {
		add(name, model, false)
	}
	for _, t := range c.tasks() {
		switch {
		case t.Runner != "":
			add(t.Runner, cmp.Or(t.Model, model), false)
		case t.Model != "":
			for _, name := range names {
				add(name, t.Model, false)
			}
		}
	}
	for _, name := range c.project.Reviewers() {
		if r, err := c.project.Reviewer(name); err == nil {
			add(name, r.Model, true)
		}
	}
	return agents
}

// askable returns an agent that can be asked something: its program is there, and it does not do what it does whatever it is asked.
func (c *checkup) askable(name string) (configs.Agent, bool) {
	agent, err := c.project.Agent(name)
	if err != nil || agent.Type == kinds.Scripted || agent.Type == kinds.Command && agent.Result != "final" {
		return agent, false
	}
	_, err = c.project.Program(name)
	return agent, err == nil
}

// tasks returns those of the plan, if there is one.
func (c *checkup) tasks() []epic.Task {
	if c.plan == nil {
		return nil
	}
	return c.plan.Epic.Tasks
}

// askOne asks one agent. The error is a fault of this machine.
func (c *checkup) askOne(ctx context.Context, a *asked, dir string) error {
	work := filepath.Join(dir, "work")
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(work, 0o700), os.WriteFile(in("prompt.md"), []byte(question), 0o600)); err != nil {
		return err
	}
	runner, err := c.project.Runner(ctx, a.name, c.programs.guardian)
	if err != nil {
		return err
	}
	begin := time.Now()
	a.report, err = runner.Run(ctx, runners.Request{
		Mark: "check/" + a.name + "/1", Question: true, Unsteered: true, Dir: work, Prompt: in("prompt.md"),
		Result: in("result.json"), Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"), End: in("end.json"), Model: a.model,
		Env: project.CommonEnvironment(c.project.Session.Environ, c.project.Config.Relay.Env),
		Limits: runners.Limits{
			Wall: c.patience(), FirstAnswer: c.patience(), Linger: 5 * time.Second, StopGrace: 5 * time.Second, TranscriptCap: 1 << 20,
		},
	})
	a.took = time.Since(begin)
	return err
}

// answers reports whether the agent has answered, whatever it said.
func (a asked) answers() bool {
	return a.err == nil && (a.report.Outcome == runners.Claimed || a.report.Outcome == runners.Failed && a.report.FinalText != "")
}

// answered returns the point about an agent that was asked.
func (c *checkup) answered(a asked) Point {
	p := Point{Name: a.label(), State: Fail, Code: exit.NoRunner}
	who := ""
	if a.model != "" {
		who = " with model " + a.model
	}
	r := a.report
	why := text.Line(plaintext.Escape(r.Detail), 200)
	switch {
	case a.err != nil:
		d := exit.Diagnose(a.err)
		p.Message, p.Fix = "cannot be asked: "+d.Messages[0], d.Hint
		return p
	case a.answers():
		p.State, p.Code = OK, 0
		p.Message = "answers" + answeredBy(cmp.Or(r.Model, a.model)) + fmt.Sprintf(" in %.1fs", a.took.Seconds()) + costOf(r.Usage)
		return p
	}
	p.Message = map[runners.Outcome]string{
		runners.Auth: "is not logged in, or may not be used", runners.Quota: "has come to its usage limit", runners.RateLimited: "is throttled",
		runners.Overloaded: "is refused by a provider without room", runners.Network: "gets no answer from its provider",
		runners.CannotStart: "cannot be started", runners.WallLimit: "has not answered within " + c.patience().String(),
		runners.NoResult: "ended without an answer",
	}[r.Outcome]
	p.Message = cmp.Or(p.Message, "does not answer ("+string(r.Outcome)+")") + who
	if !r.ResetAt.IsZero() {
		p.Message += " until " + r.ResetAt.Local().Format("2006-01-02 15:04")
	}
	if why != "" {
		p.Message += ": " + why
	}
	switch r.Outcome {
	case runners.Auth:
		p.Fix = status.LoginFix(c.project, a.name, verdict.OutcomeOf(r.Outcome).Outcome)
		if a.model != "" {
			p.Fix += "; or correct the model"
		}
	case runners.Quota, runners.RateLimited, runners.Overloaded:
		p.State, p.Code = Warn, 0
		p.Fix = "a run asks others meanwhile, or waits: relay.runners names them in order"
	case runners.Network:
		p.Fix = "look at the network, the proxy and the provider's status page"
	default:
		p.Fix = "try it yourself: " + program(c.project, a.name)
	}
	return p
}

// program returns what a person types to start an agent.
func program(p *project.Project, name string) string {
	found, err := p.Program(name)
	if err != nil {
		return name
	}
	return found
}

func answeredBy(model string) string {
	if model == "" {
		return ""
	}
	return " (" + plaintext.Escape(text.Line(model, 60)) + ")"
}

// costOf says what an answer has cost, where that is known.
func costOf(u runners.Usage) string {
	if !u.Priced {
		return ""
	}
	return fmt.Sprintf(", %.4f USD", u.CostUSD)
}

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
	"strings"
	"sync"
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
	"relay/runners"
	"relay/runners/command"
	"relay/runners/kinds"
	"relay/runners/process"
	"relay/runners/sandbox"
)

// find finds the program of a runner, and makes the runner, without what decorates it, and without starting anything.
func (c *checkup) find(ctx context.Context, name string) (string, runners.Runner, error) {
	program, err := c.project.Agents.Program(name)
	if err != nil {
		return "", nil, err
	}
	runner, err := c.project.Agents.Runner(ctx, name, nil)
	return program, runners.Unwrap(runner), err
}

// runner adds a point about a runner: its program, its version, and what it will do unasked. It returns false when the
// program was not found.
func checkRunner(ctx context.Context, c *checkup, label, name string) bool {
	program, runner, err := c.find(ctx, name)
	if err != nil {
		d := terminal.Diagnose(err)
		c.points = append(c.points, Point{Name: label, State: Fail, Message: d.Messages[0], Fix: d.Hint, Code: terminal.NoRunner})
		return false
	}
	state, what, fix := OK, program, ""
	if adapter, ok := runner.(interface{ Tested() command.VersionRange }); ok {
		state, what, fix = versioned(ctx, c, program, name, adapter.Tested())
	}
	if mode := modeOf(runner, strings.HasPrefix(label, reviewLabel)); mode != "" {
		what += "; " + mode
	}
	c.add(state, label, what, fix)
	return true
}

// reviewLabel begins the names of points about reviewers.
const reviewLabel = "review "

// modeOf returns text that says what a runner may do unasked: some are held tighter when they are only asked something.
func modeOf(runner runners.Runner, asked bool) string {
	if adapter, ok := runner.(interface{ QuestionMode() string }); ok && asked {
		return adapter.QuestionMode()
	}
	if adapter, ok := runner.(interface{ Mode() string }); ok {
		return adapter.Mode()
	}
	return ""
}

// versioned reports whether a program is one that its adapter was tested on.
func versioned(ctx context.Context, c *checkup, program, name string, tested command.VersionRange) (state, what, fix string) {
	agent, _ := c.project.Agents.Named(name) // its program was found
	env := append(project.CommonEnvironment(c.project.Session.Environ, c.project.Config.Relay.Env), agent.Env...)
	argv := []string{program}
	if len(agent.Argv) > 1 {
		argv = append(argv, agent.Argv[1:]...)
		program = strings.Join(argv, " ")
	}
	version, err := c.programs.version(ctx, argv, env)
	switch {
	case err != nil:
		return Warn, fmt.Sprintf("%s %s", program, err), "try " + program + " --version yourself; relay was tested with " + tested.String()
	case tested.Compare(version) < 0:
		return Warn, fmt.Sprintf("%s %s is older than what relay was tested with", program, version), "update it: relay was tested with " + tested.String()
	case tested.Compare(version) > 0:
		return Warn, fmt.Sprintf("%s %s is newer than what relay was tested with", program, version),
			"try one task before a night, relay work TASK; relay was tested with " + tested.String()
	}
	return OK, program + " " + version, ""
}

// runners checks the program of every runner that would be asked. Of those to choose from one is enough.
func checkRunners(ctx context.Context, c *checkup) {
	names := c.project.Config.Relay.Runners
	if len(names) == 0 {
		c.points = append(c.points, Point{
			Name: "runner", State: Fail, Message: "no runner is configured",
			Fix: "set relay.runners in " + configs.SharedFile, Code: terminal.NoRunner,
		})
	}
	usable := slices.ContainsFunc(names, func(name string) bool {
		_, _, err := c.find(ctx, name)
		return err == nil
	})
	for _, name := range names {
		if !checkRunner(ctx, c, "runner "+name, name) && usable {
			c.points[len(c.points)-1].State = Warn
		}
	}
	if c.plan == nil {
		return
	}
	wanted := map[string]bool{}
	for i := range c.plan.Epic.Tasks {
		name := c.plan.Epic.Tasks[i].Runner
		if name != "" && !wanted[name] && !slices.Contains(names, name) {
			checkRunner(ctx, c, "runner "+name, name)
		}
		wanted[name] = true
	}
}

func checkReviewers(ctx context.Context, c *checkup) {
	names := c.project.Agents.Reviewers()
	if len(names) == 0 && c.project.Config.Relay.Review.Enabled && c.project.Config.Relay.Review.Provider == project.AutoReviewer {
		c.add(Warn, "review", "no agent of another vendor than the runners is there to review: checks alone decide", "install one of "+strings.Join(kinds.Types(), ", ")+", or name a reviewer")
		return
	}
	if len(names) == 0 {
		why := "no reviewer is configured: checks alone decide"
		if c.project.Config.QualityGate.Epic {
			why += ", and no reviewer judges the whole epic (quality_gate.epic)"
		}
		c.add(Warn, "review", why, "set relay.review.provider in "+configs.SharedFile)
		return
	}
	if c.project.Config.Relay.Isolation == string(engine.IsolationShared) {
		c.fail("review", engine.ErrSharedReview)
	}
	for _, name := range names {
		if !checkRunner(ctx, c, reviewLabel+name, name) {
			continue
		}
		if _, err := c.project.Agents.Reviewer(name); err != nil {
			c.fail(reviewLabel+name, err)
		}
	}
}

// checkSandbox says what holds the processes of a run.
func checkSandbox(ctx context.Context, c *checkup) {
	tasks := tasksOf(c.plan)
	box, posture := cli.Sandbox(ctx, c.project), cli.Posture(ctx, c.project, tasks)
	state := OK
	switch {
	case posture == "":
		return
	case cli.CheckSandbox(ctx, c.project, tasks) != nil:
		state = Fail
	case posture != string(sandbox.Bubblewrap):
		state = Warn
	}
	c.add(state, "sandbox", posture, box.Mend)
	for _, path := range box.Write {
		if _, err := os.Lstat(path); err != nil && sandbox.NamesFile(path) {
			c.add(Warn, "sandbox", "nothing can write "+path+", which relay.sandbox_write names: it is missing", "touch "+plaintext.ShellWord(path))
		}
	}
}

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
	project.Asked
	took   time.Duration
	report runners.Report
	err    error
}

// label is the name of its point.
func (a asked) label() string {
	if a.Reviewer {
		return reviewLabel + a.Name
	}
	return "runner " + a.Name
}

// ask sends every agent that a run would use one tiny request, all at the same time, each in an empty folder of its own. It is no
// attempt: nothing is recorded, and nothing in the checkout is read or written.
func askAgents(ctx context.Context, c *checkup) {
	agents := agentsToAsk(c)
	if len(agents) == 0 {
		return
	}
	if err := c.programs.start(); err != nil {
		c.fail("ask", err)
		return
	}
	cli.Sandbox(ctx, c.project) // once, before they ask for it at the same time
	var wait sync.WaitGroup
	for i := range agents {
		a := &agents[i]
		wait.Go(func() { a.err = askOne(ctx, c, a, filepath.Join(c.programs.dir, "ask-"+strconv.Itoa(i))) })
	}
	wait.Wait()
	able := slices.ContainsFunc(agents, func(a asked) bool { return !a.Reviewer && a.answers() })
	for _, a := range agents {
		p := answered(c, a)
		if p.State == Fail && able && !a.Reviewer && slices.Contains(c.project.Config.Relay.Runners, a.Name) {
			p.State = Warn // of those to choose from one is enough
		}
		c.points = append(c.points, p)
	}
}

func tasksOf(pl *project.Plan) []epic.Task {
	if pl == nil {
		return nil
	}
	return pl.Epic.Tasks
}

// agentsToAsk returns the runners, those that tasks insist on, and the reviewers, each with the models that it would be asked for. Those
// whose program is missing have a point already.
func agentsToAsk(c *checkup) []asked {
	return each.Where(c.project.Agents.AllAsked(tasksOf(c.plan)), func(who project.Asked) (asked, bool) {
		var unfit error
		if who.Reviewer {
			_, unfit = c.project.Agents.Reviewer(who.Name)
		}
		return asked{Asked: who}, unfit == nil && askable(c, who.Name)
	})
}

// askable reports whether an agent can be asked something: its program is there, and it does not do what it does whatever it is asked.
func askable(c *checkup, name string) bool {
	agent, err := c.project.Agents.Named(name)
	_, missing := c.project.Agents.Program(name)
	return err == nil && missing == nil && agent.Type != kinds.Scripted && (agent.Type != kinds.Command || agent.Result == "final")
}

// askOne asks one agent. The error is a fault of this machine.
func askOne(ctx context.Context, c *checkup, a *asked, dir string) error {
	work := filepath.Join(dir, "work")
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(work, 0o700), os.WriteFile(in("prompt.md"), []byte(question), 0o600)); err != nil {
		return err
	}
	runner, err := c.project.Agents.Runner(ctx, a.Name, cli.AgentSupervisor(ctx, c.project, c.programs.guardian, a.Name))
	if err != nil {
		return err
	}
	var schema []byte // a runner gets the flags that an attempt has, so that a CLI that refuses one of them shows it
	if !a.Reviewer {
		schema = runners.ResultSchema("")
	}
	begin := time.Now()
	a.report, err = runner.Run(ctx, runners.Request{
		Mark: "check/" + a.Name + "/1", Question: a.Reviewer, Unsteered: a.Reviewer, Dir: work, Prompt: in("prompt.md"), Schema: schema,
		Result: in("result.json"), Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"), End: in("end.json"), Model: a.Model,
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
	words := []runners.Outcome{runners.Failed, runners.NoResult, runners.BadResult}
	return a.err == nil && (a.report.Outcome == runners.Claimed || slices.Contains(words, a.report.Outcome) && a.report.FinalText != "")
}

// answered returns the point about an agent that was asked.
func answered(c *checkup, a asked) Point {
	p := Point{Name: a.label(), State: Fail, Code: terminal.NoRunner}
	who := ""
	if a.Model != "" {
		who = " with model " + a.Model
	}
	r := a.report
	why := plaintext.Fit(plaintext.Escape(r.Detail), 200)
	switch {
	case a.err != nil:
		d := terminal.Diagnose(a.err)
		p.Message, p.Fix = "cannot be asked: "+d.Messages[0], d.Hint
		return p
	case a.answers():
		p.State, p.Code = OK, 0
		p.Message = "answers"
		if model := cmp.Or(r.Model, a.Model); model != "" {
			p.Message += " (" + plaintext.Escape(plaintext.Fit(model, 60)) + ")"
		}
		if p.Message += fmt.Sprintf(" in %.1fs", a.took.Seconds()); r.Usage.Priced {
			p.Message += fmt.Sprintf(", %.4f USD", r.Usage.CostUSD)
		}
		return p
	}
	p.Message = map[runners.Outcome]string{
		runners.Auth: "is not logged in, or may not be used", runners.NoModel: "is not available", runners.Quota: "has come to its usage limit", runners.RateLimited: "is throttled",
		runners.Overloaded: "is refused by a provider without room", runners.Network: "gets no answer from its provider",
		runners.CannotStart: "cannot be started", runners.WallLimit: "has not answered within " + c.patience().String(),
		runners.NoResult: "ended without an answer",
	}[r.Outcome]
	p.Message = cmp.Or(p.Message, "does not answer ("+string(r.Outcome)+")") + who
	if !r.ResetAt.IsZero() {
		p.Message += " until " + plaintext.LocalTime(r.ResetAt)
	}
	if why != "" {
		p.Message += ": " + why
	}
	switch r.Outcome {
	case runners.Auth, runners.NoModel:
		fix := status.Fix(c.project, tasksOf(c.plan), a.Name, verdict.OutcomeOf(r.Outcome).Outcome, r.Detail)
		p.Fix = strings.TrimPrefix(fix, "relay check --ask, after you ")
	case runners.Quota, runners.RateLimited, runners.Overloaded:
		p.State, p.Code = Warn, 0
		p.Fix = "a run asks others meanwhile, or waits: relay.runners names them in order"
	case runners.Network:
		p.Fix = "look at the network, the proxy and the provider's status page"
	default:
		program, _ := c.project.Agents.Program(a.Name)
		p.Fix = "try it yourself: " + cmp.Or(program, a.Name)
	}
	return p
}

// versionPatience is how long a program may take to tell its version. Some load all of themselves first: on a machine
// with ten times more to do than it can, gemini took 13 seconds.
const versionPatience = 20 * time.Second

// programs asks the programs of agents for their versions, each once.
type programs struct {
	guard    func() (*process.Guardian, error) // starts one
	guardian *process.Guardian
	dir      string // for what they print
	answers  map[string]func() (version string, err error)
}

// version asks a program, which a guardian starts: one that never ends does not outlive relay check. Argv is the program
// and its first arguments.
func (p *programs) version(ctx context.Context, argv, env []string) (string, error) {
	key := strings.Join(argv, "\x00")
	if p.answers == nil {
		p.answers = map[string]func() (string, error){}
	}
	if p.answers[key] == nil {
		p.answers[key] = sync.OnceValues(func() (string, error) { return p.ask(ctx, argv, env) })
	}
	return p.answers[key]()
}

func (p *programs) ask(ctx context.Context, argv, env []string) (string, error) {
	if err := p.start(); err != nil {
		return "", err
	}
	dir := filepath.Join(p.dir, strconv.Itoa(len(p.answers)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return command.VersionOf(ctx, p.guardian, command.VersionRequest{Argv: argv, Dir: dir, Env: env, Wall: versionPatience})
}

// start starts the guardian, unless it is there.
func (p *programs) start() (err error) {
	if p.guardian != nil {
		return nil
	}
	if p.guardian, err = p.guard(); err != nil {
		return err
	}
	p.dir, err = os.MkdirTemp("", "relay-check-")
	return err
}

func (p *programs) close() {
	if p.guardian != nil {
		_ = p.guardian.Close() // what the programs said is known, whatever became of it
	}
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

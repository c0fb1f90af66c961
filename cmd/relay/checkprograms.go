package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/runners"
	"relay/runners/process"
)

// versionPatience is how long a program may take to tell its version. Some load all of themselves first: on a machine
// with ten times more to do than it can, gemini took 13 seconds.
const versionPatience = 20 * time.Second

// programs asks the programs of agents for their versions, each once.
type programs struct {
	guardian *process.Guardian
	dir      string // for what they print
	answers  map[string]programAnswer
}

type programAnswer struct {
	version string
	err     error
}

// version asks a program, which a guardian starts: one that never ends does not outlive relay check. Argv is the program
// and its first arguments.
func (p *programs) version(ctx context.Context, a *app, argv, env []string) (string, error) {
	key := strings.Join(argv, "\x00")
	if known, ok := p.answers[key]; ok {
		return known.version, known.err
	}
	var answer programAnswer
	answer.version, answer.err = p.ask(ctx, a, argv, env)
	if p.answers == nil {
		p.answers = map[string]programAnswer{}
	}
	p.answers[key] = answer
	return answer.version, answer.err
}

func (p *programs) ask(ctx context.Context, a *app, argv, env []string) (string, error) {
	if err := p.start(a); err != nil {
		return "", err
	}
	dir := filepath.Join(p.dir, strconv.Itoa(len(p.answers)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return runners.ProgramVersion(ctx, p.guardian, runners.VersionRequest{Argv: argv, Dir: dir, Env: env, Wall: versionPatience})
}

// start starts the guardian, unless it is there.
func (p *programs) start(a *app) (err error) {
	if p.guardian != nil {
		return nil
	}
	if p.guardian, err = a.guarded(func() error { return nil }); err != nil {
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

// find looks for the program of a runner, and makes the runner, without what decorates it, and without starting anything.
func (c *checkup) find(ctx context.Context, name string) (string, runners.Runner, error) {
	program, err := c.place.Program(name)
	if err != nil {
		return "", nil, err
	}
	runner, err := c.place.Runner(ctx, name, nil)
	return program, runners.Unwrap(runner), err
}

// runner says of a runner which program it is, in which version, and what it will do unasked.
func (c *checkup) runner(ctx context.Context, label, name string) bool {
	program, runner, err := c.find(ctx, name)
	if err != nil {
		d := exit.Diagnose(err)
		c.points = append(c.points, point{Name: label, State: stateFail, Message: d.Messages[0], Fix: d.Hint, code: exit.NoRunner})
		return false
	}
	state, what, fix := stateOK, program, ""
	if adapter, ok := runner.(interface{ Tested() runners.Versions }); ok {
		state, what, fix = c.versioned(ctx, program, name, adapter.Tested())
	}
	if mode := modeOf(runner, strings.HasPrefix(label, reviewLabel)); mode != "" {
		what += "; " + mode
	}
	c.add(state, label, what, fix)
	return true
}

// reviewLabel begins the names of points about reviewers.
const reviewLabel = "review "

// modeOf says what a runner may do unasked: some are held tighter when they are only asked something.
func modeOf(runner runners.Runner, asked bool) string {
	if adapter, ok := runner.(interface{ QuestionMode() string }); ok && asked {
		return adapter.QuestionMode()
	}
	if adapter, ok := runner.(interface{ Mode() string }); ok {
		return adapter.Mode()
	}
	return ""
}

// versioned says whether a program is one that its adapter was tested on.
func (c *checkup) versioned(ctx context.Context, program, name string, tested runners.Versions) (state, what, fix string) {
	agent, _ := c.place.Agent(name) // its program was found
	env := append(project.CommonEnvironment(c.app.environ, c.place.Config.Relay.Env), agent.Env...)
	argv := []string{program}
	if len(agent.Argv) > 1 {
		argv = append(argv, agent.Argv[1:]...)
		program = strings.Join(argv, " ")
	}
	version, err := c.programs.version(ctx, c.app, argv, env)
	switch {
	case err != nil:
		return stateWarn, fmt.Sprintf("%s %s", program, err), "try " + program + " --version yourself; relay was tested with " + tested.String()
	case tested.Compare(version) < 0:
		return stateWarn, fmt.Sprintf("%s %s is older than what relay was tested with", program, version), "update it: relay was tested with " + tested.String()
	case tested.Compare(version) > 0:
		return stateWarn, fmt.Sprintf("%s %s is newer than what relay was tested with", program, version),
			"try one task before a night, relay work TASK; relay was tested with " + tested.String()
	}
	return stateOK, program + " " + version, ""
}

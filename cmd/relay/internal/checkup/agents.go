package checkup

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/configs"
	"relay/runners"
	"relay/runners/version"
)

// find finds the program of a runner, and makes the runner, without what decorates it, and without starting anything.
func (c *checkup) find(ctx context.Context, name string) (string, runners.Runner, error) {
	program, err := c.project.Program(name)
	if err != nil {
		return "", nil, err
	}
	runner, err := c.project.Runner(ctx, name, nil)
	return program, runners.Unwrap(runner), err
}

// runner adds a point about a runner: its program, its version, and what it will do unasked. It returns false when the
// program was not found.
func (c *checkup) runner(ctx context.Context, label, name string) bool {
	program, runner, err := c.find(ctx, name)
	if err != nil {
		d := exit.Diagnose(err)
		c.points = append(c.points, Point{Name: label, State: Fail, Message: d.Messages[0], Fix: d.Hint, Code: exit.NoRunner})
		return false
	}
	state, what, fix := OK, program, ""
	if adapter, ok := runner.(interface{ Tested() version.Range }); ok {
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
func (c *checkup) versioned(ctx context.Context, program, name string, tested version.Range) (state, what, fix string) {
	agent, _ := c.project.Agent(name) // its program was found
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
func (c *checkup) runners(ctx context.Context) {
	names := c.project.Config.Relay.Runners
	if len(names) == 0 {
		c.points = append(c.points, Point{
			Name: "runner", State: Fail, Message: "no runner is configured",
			Fix: "set relay.runners in " + configs.SharedFile, Code: exit.NoRunner,
		})
	}
	usable := slices.ContainsFunc(names, func(name string) bool {
		_, _, err := c.find(ctx, name)
		return err == nil
	})
	for _, name := range names {
		if !c.runner(ctx, "runner "+name, name) && usable {
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
			c.runner(ctx, "runner "+name, name)
		}
		wanted[name] = true
	}
}

func (c *checkup) reviewers(ctx context.Context) {
	names := c.project.Reviewers()
	if len(names) == 0 && c.project.Config.Relay.Review.Enabled && c.project.Config.Relay.Review.Provider == project.AutoReviewer {
		c.add(Warn, "review", "no agent of another vendor than the runners is there to review: checks alone decide", "install one of "+strings.Join(project.ReviewVendors(), ", ")+", or name a reviewer")
		return
	}
	if len(names) == 0 {
		why := "no reviewer is configured: checks alone decide"
		if c.project.Config.QualityGate.Epic {
			why += ", and nobody judges the whole epic (quality_gate.epic)"
		}
		c.add(Warn, "review", why, "set relay.review.provider in "+configs.SharedFile)
		return
	}
	for _, name := range names {
		if !c.runner(ctx, reviewLabel+name, name) {
			continue
		}
		if _, err := c.project.Reviewer(name); err != nil {
			c.fail(reviewLabel+name, err)
		}
	}
}

// shell reports a missing sh, which acceptance commands run in.
func (c *checkup) shell() {
	if runtime.GOOS == "windows" {
		return
	}
	if _, err := exec.LookPath("sh"); err != nil {
		c.add(Fail, "shell", "there is no sh to run acceptance commands", "put sh on the PATH")
	}
}

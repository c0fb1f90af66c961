package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic"
	"relay/epic/each"
	"relay/runners"
	"relay/runners/kinds"
	"relay/runners/process"
	"relay/runners/sandbox"
)

// Sandbox returns what makes the walls around the processes of a run. At the first call it tries what starts on this system.
func Sandbox(ctx context.Context, p *project.Project) *sandbox.Sandbox {
	if p.Sandbox != nil {
		return p.Sandbox
	}
	c, environ := &p.Config.Relay, p.Session.Environ
	p.Sandbox = &sandbox.Sandbox{Setting: c.Sandbox, Linked: &sync.Map{}}
	if c.Sandbox == sandbox.Off {
		return p.Sandbox
	}
	p.Sandbox.Probe = sandbox.Try(ctx, runners.Variable(environ, "PATH"))
	p.Sandbox.Place = sandbox.Place{
		Root: p.Root, Git: p.Git.CommonDir(), Folder: p.Home, Slots: p.Worktrees().Dir, State: project.StateDir(environ), Temp: os.TempDir(),
		Hook: project.CommitHook(ctx, p), Write: inHome(p, c.SandboxWrite), Sockets: inHome(p, c.SandboxSockets),
		Checks: configs.Hosts(c.SandboxNetwork.Checks), Agents: configs.Hosts(c.SandboxNetwork.Agents),
		Home: runners.Variable(environ, "HOME"), Logins: c.SandboxLogins,
	}
	return p.Sandbox
}

// inHome returns paths of settings, which may begin with ~/.
func inHome(p *project.Project, paths []string) []string {
	return each.Of(paths, func(path string) string {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			return filepath.Join(runners.Variable(p.Session.Environ, "HOME"), rest)
		}
		return path
	})
}

// Posture says in one line what holds the processes of work on tasks; "" if the user wants no sandbox.
func Posture(ctx context.Context, p *project.Project, tasks []epic.Task) string {
	return Sandbox(ctx, p).Posture(clis(p, tasks)...)
}

// CheckSandbox fails if the user requires a sandbox and none starts, or none for an agent that tasks may be given to.
func CheckSandbox(ctx context.Context, p *project.Project, tasks []epic.Task) error {
	box := Sandbox(ctx, p)
	bare := slices.DeleteFunc(append([]string{""}, clis(p, tasks)...), box.Holds)
	if box.Setting != sandbox.Require || len(bare) == 0 {
		return nil
	}
	what := strings.TrimSuffix("no sandbox starts for "+bare[0], " for ")
	return &terminal.Hinted{Err: errors.New("relay.sandbox is require, and " + what + ": " + box.Why), Hint: box.Mend}
}

// clis returns the CLIs of the agents that tasks may be given to, and of their reviewers.
func clis(p *project.Project, tasks []epic.Task) []string {
	return each.Of(p.Agents.AllAsked(tasks), func(a project.Asked) string { return HeldAs(p, a.Name) })
}

// HeldAs returns the CLI that the sandbox takes an agent for: its type, or the program of a command that the sandbox knows. It returns ""
// for an agent that keeps no state or whose state the user names, and for other commands their name, marked so that it is not a CLI's.
func HeldAs(p *project.Project, name string) string {
	agent := p.Config.Relay.Agents[name]
	program := name
	if len(agent.Argv) > 0 {
		program = filepath.Base(agent.Argv[0])
	}
	switch {
	case agent.Type == kinds.Scripted, agent.Type == kinds.Command && len(agent.SandboxWrite) > 0 && !sandbox.Knows(program):
		return ""
	case agent.Type != kinds.Command:
		return agent.Type
	case sandbox.Knows(program):
		return program
	}
	return sandbox.Unknown + name
}

// walled starts each process inside the wall of its role.
type walled struct {
	process.Supervisor
	box   *sandbox.Sandbox
	cli   string
	write []string
}

// Walled returns a supervisor that starts processes in the sandbox: those of an agent, or others if agent is "".
func Walled(ctx context.Context, p *project.Project, sup process.Supervisor, agent string) process.Supervisor {
	return walled{sup, Sandbox(ctx, p), HeldAs(p, agent), inHome(p, p.Config.Relay.Agents[agent].SandboxWrite)}
}

// Start implements [process.Supervisor].
func (w walled) Start(ctx context.Context, cmd process.Command) (_ process.Process, err error) {
	if cmd.CLI = cmp.Or(cmd.CLI, w.cli); cmd.Wall != nil {
		return w.Supervisor.Start(ctx, cmd)
	}
	of := sandbox.Process{Role: cmd.Role, CLI: cmd.CLI, Dir: cmd.Dir, Env: cmd.Env, Allow: cmd.Allow, Write: w.write}
	of.Run = cmd.Argv[len(cmd.Argv)-1]
	if cmd.Wall, err = w.box.Wall(of); err != nil {
		return nil, err
	}
	p, err := w.Supervisor.Start(ctx, cmd)
	if err != nil || cmd.Wall == nil {
		return p, err
	}
	return &inside{p, ctx, w, cmd}, nil
}

// inside is a process in a sandbox.
type inside struct {
	process.Process
	ctx context.Context //nolint:containedctx // of the one process
	walled
	cmd process.Command
}

// Wait adds to how the process ended what the sandbox refused it. A command that succeeds relies on none of that. If the CLI of an agent
// fails, Wait asks it for its version: if that fails as well, the agent has not begun.
func (i *inside) Wait() process.Exit {
	exit := i.Process.Wait()
	worked := i.cmd.Role.IsCommand()
	if exit.Code != 0 || !worked {
		paths := sandbox.Refused(i.cmd.Wall, runners.Variable(i.cmd.Env, "HOME"), i.box.Root, i.cmd.Stdout, i.cmd.Stderr)
		exit.Refused = strings.Join(append(paths, strings.Fields(exit.Refused)...), " ")
	}
	if !worked && exit.Refused == sandbox.Unnamed { // a guess, which nothing tries
		exit.Refused = ""
	}
	version := i.cmd
	version.Argv, version.Stdin, version.Stdout, version.End = []string{version.Argv[0], "--version"}, "", os.DevNull, ""
	if exit.Code != 0 && !exit.Stopped && exit.Refused != "" && sandbox.Knows(i.cli) {
		if p, err := i.Supervisor.Start(i.ctx, version); err == nil {
			end := p.Wait()
			exit.Barred = end.Code != 0 && !end.Stopped && !end.Lost
		}
	}
	return exit
}

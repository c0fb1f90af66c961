package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"relay/configs"
	"relay/runners"
	"relay/runners/process"
)

// newRunner makes the runner of a name in relay.agents.
func (p *place) newRunner(name string, sup process.Supervisor) (runners.Runner, error) {
	agent, err := p.agent(name)
	if err != nil {
		return nil, err
	}
	switch agent.Type {
	case "claude":
		o := runners.ClaudeOptions{Name: name, Model: agent.Model, Env: agent.Env}
		if len(agent.Argv) > 0 {
			o.Program, o.Args = agent.Argv[0], agent.Argv[1:]
		}
		if agent.Permission != "" {
			o.Permissions = []string{"--permission-mode", agent.Permission}
		}
		return runners.NewClaude(sup, o), nil
	case "command":
		return runners.NewCommand(sup, runners.CommandOptions{
			Name: name, Argv: agent.Argv, PromptArg: agent.Prompt == "file", Exit: agent.Result == "exit",
			Model: agent.Model, Env: agent.Env, StopSignal: agent.StopSignal,
		}), nil
	case "scripted":
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return runners.NewScripted(sup, runners.ScriptedOptions{
			Name: name, Argv: []string{self, agentCommand}, Script: p.inRoot(agent.Script), Env: agent.Env,
		}), nil
	}
	return nil, fmt.Errorf("agent %s has type %s, which this relay does not know", name, quote(agent.Type))
}

func (p *place) agent(name string) (configs.Agent, error) {
	agent, ok := p.config.Relay.Agents[name]
	if !ok {
		return agent, &hinted{err: fmt.Errorf("there is no agent %s", quote(name)), code: exitNoRunner,
			hint: "describe it under relay.agents." + name + " in " + configs.SharedFile}
	}
	return agent, nil
}

// program finds what a runner would start, without starting it.
func (p *place) program(name string) (string, error) {
	agent, err := p.agent(name)
	if err != nil {
		return "", err
	}
	if agent.Type == "scripted" {
		path := p.inRoot(agent.Script)
		if _, err := readFile(path, maxScript); err != nil {
			return "", &hinted{err: fmt.Errorf("script of %s: %w", name, err), hint: "correct relay.agents." + name + ".script"}
		}
		return "plays " + p.shown(path), nil
	}
	wanted := name
	if agent.Type == "claude" {
		wanted = "claude"
	}
	if len(agent.Argv) > 0 {
		wanted = agent.Argv[0]
	}
	found, err := exec.LookPath(wanted)
	if err != nil {
		return "", &hinted{err: fmt.Errorf("%s is not found", wanted), code: exitNoRunner,
			hint: "install it, put it on the PATH, or set relay.agents." + name + ".argv"}
	}
	return found, nil
}

// inRoot takes a path in the configuration, which is relative to the root of the repository.
func (p *place) inRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.root, filepath.FromSlash(path))
}

// reviewer is who judges each change, or "" when nobody does; rest are reviewers that are not asked.
func reviewer(c *configs.Config) (name string, rest []string) {
	names := c.QualityGate.Reviewers
	if len(names) == 0 && c.Relay.Review.Provider != "none" {
		names = []string{c.Relay.Review.Provider}
	}
	if !c.Relay.Review.Enabled || len(names) == 0 || names[0] == "none" {
		return "", nil
	}
	return names[0], names[1:]
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"relay/configs"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/process"
)

// newRunners makes runners for as long as a run goes on.
func (p *place) newRunners(ctx context.Context) func(string, process.Supervisor) (runners.Runner, error) {
	return func(name string, sup process.Supervisor) (runners.Runner, error) { return p.newRunner(ctx, name, sup) }
}

// bareRunner makes the runner of a name in relay.agents.
func (p *place) bareRunner(ctx context.Context, name string, sup process.Supervisor) (runners.Runner, error) {
	agent, err := p.agent(name)
	if err != nil {
		return nil, err
	}
	switch agent.Type {
	case "claude":
		o := runners.ClaudeOptions{Name: name, Permission: agent.Permission, Model: agent.Model, Env: agent.Env}
		if len(agent.Argv) > 0 {
			o.Program, o.Args = agent.Argv[0], agent.Argv[1:]
		}
		return runners.NewClaude(sup, o), nil
	case "opencode":
		o := runners.OpencodeOptions{Name: name, Model: agent.Model, Env: agent.Env, Permission: agent.Permission}
		if len(agent.Argv) > 0 {
			o.Program, o.Args = agent.Argv[0], agent.Argv[1:]
		}
		r, err := runners.NewOpencode(sup, o)
		if err != nil {
			return nil, &hinted{err: err, code: exitNoRunner, hint: "correct relay.agents." + name + ".permission"}
		}
		return r, nil
	case "gemini":
		o := runners.GeminiOptions{
			Name: name, Model: agent.Model, Env: agent.Env, Permission: agent.Permission, Git: p.globalIdentity(ctx),
		}
		if len(agent.Argv) > 0 {
			o.Program, o.Args = agent.Argv[0], agent.Argv[1:]
		}
		return runners.NewGemini(sup, o), nil
	case "codex":
		o := runners.CodexOptions{Name: name, Permission: agent.Permission, Model: agent.Model, Env: agent.Env}
		if len(agent.Argv) > 0 {
			o.Program, o.Args = agent.Argv[0], agent.Argv[1:]
		}
		return runners.NewCodex(sup, o), nil
	case "command":
		return runners.NewCommand(sup, runners.CommandOptions{
			Name: name, Argv: agent.Argv, PromptArg: agent.Prompt == "file", Exit: agent.Result == "exit", Final: agent.Result == "final",
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

// agentOf is what a brief says of a runner.
func (p *place) agentOf(name string) (kind, forbids string) {
	agent := p.config.Relay.Agents[name]
	switch agent.Type {
	case "claude", "gemini":
		return agent.Type, ""
	case "opencode":
		if agent.Permission == "" || agent.Permission == "workspace" {
			forbids = "Your file tools work in this folder only."
		}
		return agent.Type, forbids
	case "codex":
		if agent.Permission == "" || agent.Permission == "workspace-write" {
			forbids = "Your sandbox has no network, and writes in this folder and /tmp only: git cannot commit in it."
		}
		return agent.Type, forbids
	}
	return "", ""
}

// agent is what the configuration says of an agent, with the variables that it alone gets.
func (p *place) agent(name string) (configs.Agent, error) {
	agent, ok := p.config.Relay.Agents[name]
	if !ok {
		return agent, &hinted{err: fmt.Errorf("there is no agent %s", quote(name)), code: exitNoRunner,
			hint: "describe it under relay.agents." + name + " in " + configs.SharedFile}
	}
	own, ok := p.own.Load(name)
	if !ok {
		own, _ = p.own.LoadOrStore(name, ownEnvironment(p.environ, p.config.Relay.Env, agent))
	}
	agent.Env = slices.Clone(own.([]string))
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
	if agent.Type != "command" {
		wanted = agent.Type
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

// globalIdentity is whom git names as author, as settings of git, as far as the repository itself does not say: an
// agent that hides the user's global configuration from its git needs to be told.
func (p *place) globalIdentity(ctx context.Context) []string {
	var settings []string
	for _, key := range []string{"user.name", "user.email"} {
		out, err := p.git.Run(ctx, reanchor.Call{Args: []string{"config", "-z", "--show-scope", "--get", key}})
		scope, value, _ := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if err == nil && (scope == "global" || scope == "system") { // without any, relay check has said what comes of it
			settings = append(settings, key+"="+value)
		}
	}
	return settings
}

// inRoot takes a path in the configuration, which is relative to the root of the repository.
func (p *place) inRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.root, filepath.FromSlash(path))
}

package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/command"
	"relay/runners/kinds"
	"relay/runners/process"
)

// RunnerFactory makes runners for as long as a run goes on.
func RunnerFactory(ctx context.Context, p *Project) func(string, process.Supervisor) (runners.Runner, error) {
	return func(name string, sup process.Supervisor) (runners.Runner, error) { return p.Runner(ctx, name, sup) }
}

// bareRunner makes the runner of a name in relay.agents.
func bareRunner(ctx context.Context, p *Project, name string, sup process.Supervisor) (runners.Runner, error) {
	agent, err := p.Agent(name)
	if err != nil {
		return nil, err
	}
	described := kinds.Agent{
		Type: agent.Type, Name: name, Argv: agent.Argv, Model: agent.Model, Permission: agent.Permission, Env: agent.Env,
		PromptArg: agent.Prompt == "file", Exit: agent.Result == "exit", Final: agent.Result == "final", StopSignal: agent.StopSignal,
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if agent.MCP {
		described.MCP = []string{self, ServerCommand}
	}
	switch {
	case kinds.FactsOf(agent.Type).HidesGit:
		described.Git = globalIdentity(ctx, p)
	case agent.Type == kinds.Scripted:
		described.Argv, described.Script = []string{self, ScriptedAgentCommand}, p.fromRoot(agent.Script)
	default:
		// A slot's PATH leads to the slot: the program would be the one that agents change.
		path, err := p.Program(name)
		if rel, outside := filepath.Rel(p.Root, path); err == nil && outside == nil && filepath.IsLocal(rel) {
			described.Argv = append([]string{path}, described.Argv[min(1, len(described.Argv)):]...)
		}
	}
	r, err := kinds.New(sup, described)
	if err != nil {
		return nil, &terminal.Hinted{Err: err, Code: terminal.NoRunner, Hint: "correct relay.agents." + name + ".permission"}
	}
	return r, err
}

// BriefFacts returns the type of an agent whose CLI relay knows, and what its sandbox forbids, as its brief says it; "" where there is
// nothing to say.
func (p *Project) BriefFacts(name string) (kind, forbids string) {
	agent := p.Config.Relay.Agents[name]
	if !slices.Contains(kinds.Types(), agent.Type) {
		return "", ""
	}
	return agent.Type, kinds.FactsOf(agent.Type).Forbids[agent.Permission]
}

// Agent returns the configuration of an agent, with the variables that only this agent gets. It fails when relay.agents has no such name.
func (p *Project) Agent(name string) (configs.Agent, error) {
	agent, ok := p.Config.Relay.Agents[name]
	if !ok {
		return agent, &terminal.Hinted{
			Err: fmt.Errorf("there is no agent %s", terminal.Quote(name)), Code: terminal.NoRunner,
			Hint: "describe it under relay.agents." + name + " in " + configs.SharedFile,
		}
	}
	own, ok := p.agentEnv.Load(name)
	if !ok {
		own, _ = p.agentEnv.LoadOrStore(name, ownEnvironment(p.Session.Environ, p.Config.Relay.Env, agent))
	}
	agent.Env = slices.Clone(own.([]string))
	return agent, nil
}

// Program finds what a runner would start, without starting it.
func (p *Project) Program(name string) (string, error) {
	agent, err := p.Agent(name)
	if err != nil {
		return "", err
	}
	if agent.Type == "scripted" {
		path := p.fromRoot(agent.Script)
		if _, err := ReadFile(path, MaxScript); err != nil {
			return "", &terminal.Hinted{Err: fmt.Errorf("script of %s: %w", name, err), Hint: "correct relay.agents." + name + ".script"}
		}
		return "plays " + p.Rel(path), nil
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
		return "", &terminal.Hinted{
			Err: fmt.Errorf("%s is not found", wanted), Code: terminal.NoRunner,
			Hint: "install it, put it on the PATH, or set relay.agents." + name + ".argv",
		}
	}
	return found, nil
}

// globalIdentity returns whom git names as author, as settings of git, as far as the repository itself does not say: an
// agent that hides the user's global configuration from its git needs them.
func globalIdentity(ctx context.Context, p *Project) []string {
	var settings []string
	for _, key := range []string{"user.name", "user.email"} {
		out, err := p.Git.Run(ctx, git.Call{Args: []string{"config", "-z", "--show-scope", "--get", key}})
		scope, value, _ := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if err == nil && (scope == "global" || scope == "system") { // without any, relay check has said what comes of it
			settings = append(settings, key+"="+value)
		}
	}
	return settings
}

// fromRoot returns the absolute path of one in the configuration, which is relative to the root of the repository.
func (p *Project) fromRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Root, filepath.FromSlash(path))
}

// ScriptedAgentCommand is the hidden command that plays a scripted agent.
const ScriptedAgentCommand = "__agent"

// ServerCommand is the command that serves MCP.
const ServerCommand = "mcp"

// MaxScript bounds a scripted agent's script, in bytes.
const MaxScript = 1 << 20

// CheckAgents makes sure that the agents are there which tasks insist on, and that what caps them can be counted.
func CheckAgents(p *Project, pl *Plan) error {
	for i := range pl.Epic.Tasks {
		t := &pl.Epic.Tasks[i]
		if t.Runner == "" {
			continue
		}
		if _, err := p.Program(t.Runner); err != nil {
			return NoRunner("task "+t.ID+" wants runner "+t.Runner+": ", err)
		}
	}
	return p.Caps(pl).Check()
}

// NoRunner returns an error with exit code terminal.NoRunner and the hint of err; where goes before its text.
func NoRunner(where string, err error) error {
	e := &terminal.Hinted{Err: fmt.Errorf("%s%w", where, err), Code: terminal.NoRunner}
	if named, ok := errors.AsType[*terminal.Hinted](err); ok {
		e.Hint = named.Hint
	}
	return e
}

// AutoReviewer is the provider that stands for a reviewer of another vendor than the worker's.
const AutoReviewer = "auto"

// Reviewers returns the names of the reviewers of each change; none without review.
func (p *Project) Reviewers() []string {
	c := p.Config
	names := c.QualityGate.Reviewers
	if len(names) == 0 {
		names = []string{c.Relay.Review.Provider}
	}
	switch {
	case !c.Relay.Review.Enabled, names[0] == "none":
		return nil
	case names[0] == AutoReviewer:
		return otherVendor(p)
	}
	return names
}

// otherVendor returns the first agent named as a CLI whose program is there and that is of another type than any runner; none without.
func otherVendor(p *Project) []string {
	var ours []string
	for _, name := range p.Config.Relay.Runners {
		ours = append(ours, p.Config.Relay.Agents[name].Type)
	}
	for _, name := range kinds.Types() {
		agent, ok := p.Config.Relay.Agents[name]
		if !ok || slices.Contains(ours, agent.Type) {
			continue
		}
		if _, err := p.Program(name); err == nil {
			return []string{name}
		}
	}
	return nil
}

// maxInstructions bounds what a user can tell a reviewer: it is cut to a part of that in the prompt.
const maxInstructions = 1 << 20

// Reviewer returns a reviewer with what the configuration says of it.
func Reviewer(p *Project, name string) (engine.Reviewer, error) {
	r := engine.Reviewer{Name: name}
	agent, err := p.Agent(name)
	if err != nil {
		return r, err
	}
	r.Focus = agent.Focus
	if agent.Instructions == "" {
		return r, nil
	}
	text, err := ReadFile(p.fromRoot(agent.Instructions), maxInstructions)
	if err != nil {
		return r, &terminal.Hinted{
			Err: fmt.Errorf("instructions of %s: %w", name, err), Code: terminal.Invalid,
			Hint: "correct relay.agents." + name + ".instructions",
		}
	}
	r.Instructions = string(text)
	return r, nil
}

// RelayVersion returns the version of relay's module as the toolchain recorded it, with the commit it was built from if the program
// belongs to the module.
func RelayVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path != "relay" {
			continue
		}
		for m.Replace != nil {
			m = m.Replace
		}
		return cmp.Or(m.Version, "(devel)")
	}
	v := cmp.Or(info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return v + " " + s.Value[:12]
		}
	}
	return v
}

// CLIOf returns the kind of CLI that an agent is, and its version by where it is installed; "" for what is not known. It looks once
// for each agent.
func (p *Project) CLIOf(name string) (kind, installed string) {
	kind = p.Config.Relay.Agents[name].Type
	if kind == "scripted" {
		return "script", ""
	}
	known, ok := p.versions.Load(name)
	if !ok {
		program, err := p.Program(name)
		if err != nil {
			return kind, ""
		}
		known, _ = p.versions.LoadOrStore(name, command.InstalledVersion(program))
	}
	installed, _ = known.(string)
	return kind, installed
}

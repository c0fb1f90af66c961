package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/command"
	"relay/runners/kinds"
	"relay/runners/process"
)

// Agents are the agents that a configuration describes, with their programs in the user's environment.
type Agents struct {
	root     string    // of the repository
	git      *git.Repo // of it
	config   *configs.Config
	environ  []string // of the user
	own      sync.Map // name of an agent -> []string, its part of that environment
	versions sync.Map // name of an agent -> string, the version of its program
}

// NewAgents returns the agents of a configuration. The repository tells whom git names as author.
func NewAgents(root string, repo *git.Repo, c *configs.Config, environ []string) *Agents {
	return &Agents{root: root, git: repo, config: c, environ: environ}
}

// Runner makes the runner of a name in relay.agents, with the prices of models whose CLI has none.
func (a *Agents) Runner(ctx context.Context, name string, sup process.Supervisor) (runners.Runner, error) {
	r, err := a.bareRunner(ctx, name, sup)
	if err != nil {
		return nil, err
	}
	agent := a.config.Relay.Agents[name]
	pricing := runners.Pricing{Prices: a.prices(), Model: cmp.Or(agent.Model, a.ownSettings(Asked{Name: name, Model: agent.Model}).Model)}
	pricing.Unknown, pricing.Kept = unknownModel(agent.Type, pricing.Model), keptModel(agent)
	return runners.WithPrices(r, pricing), nil
}

// unknownModel returns the model whose price stands in for one that has no price; "" for none. A CLI that reports its costs counts so
// itself, and others choose a model of their own vendor by default.
func unknownModel(kind, model string) string {
	if facts := kinds.FactsOf(kind); model == "" || facts.TellsPrices {
		return facts.PricedAs
	}
	return ""
}

// keptModel returns a function that finds the model of a session in the database of an agent's CLI; nil: it has none.
func keptModel(agent configs.Agent) func(ctx context.Context, env []string, session string) string {
	own, err := kinds.OwnSessions(agent.Type)
	if err != nil || path.Ext(own.Names[0]) != ".db" {
		return nil
	}
	return func(ctx context.Context, env []string, session string) (model string) {
		for _, path := range own.Find(own.Folder(slices.Concat(env, agent.Env))) {
			if kept, err := sessions.OpenKept(ctx, path); err == nil {
				model = cmp.Or(model, kept.Model(ctx, session))
				kept.Close()
			}
		}
		return model
	}
}

// ownSettings reads the model and its price from the settings of an agent's CLI.
func (a *Agents) ownSettings(h Asked) runners.OwnSettings {
	agent, err := a.Named(h.Name)
	if err != nil {
		return runners.OwnSettings{}
	}
	env := append(CommonEnvironment(a.environ, a.config.Relay.Env), agent.Env...)
	return kinds.OwnSettings(agent.Type, env, a.root, h.Model)
}

func (a *Agents) prices() runners.Prices {
	prices := make(runners.Prices, len(a.config.Relay.Prices))
	for glob, price := range a.config.Relay.Prices {
		prices[glob] = runners.Price{Input: price.Input, CachedInput: price.CachedInput, Output: price.Output}
	}
	return prices
}

// bareRunner makes the runner of a name in relay.agents.
func (a *Agents) bareRunner(ctx context.Context, name string, sup process.Supervisor) (runners.Runner, error) {
	agent, err := a.Named(name)
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
		described.Git = a.identity(ctx)
	case agent.Type == kinds.Scripted:
		described.Argv, described.Script = []string{self, ScriptedAgentCommand}, a.fromRoot(agent.Script)
	default:
		// A slot's PATH leads to the slot: the program would be the one that agents change.
		path, err := a.Program(name)
		if rel, outside := filepath.Rel(a.root, path); err == nil && outside == nil && filepath.IsLocal(rel) {
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
func (a *Agents) BriefFacts(name string) (kind, forbids string) {
	agent := a.config.Relay.Agents[name]
	if !slices.Contains(kinds.Types(), agent.Type) {
		return "", ""
	}
	return agent.Type, kinds.FactsOf(agent.Type).Forbids[agent.Permission]
}

// Named returns the configuration of an agent, with the variables that only this agent gets. It fails when relay.agents has no such name.
func (a *Agents) Named(name string) (configs.Agent, error) {
	agent, ok := a.config.Relay.Agents[name]
	if !ok {
		return agent, &terminal.Hinted{
			Err: fmt.Errorf("there is no agent %s", terminal.Quote(name)), Code: terminal.NoRunner,
			Hint: "describe it under relay.agents." + name + " in " + configs.SharedFile,
		}
	}
	own, ok := a.own.Load(name)
	if !ok {
		own, _ = a.own.LoadOrStore(name, ownEnvironment(a.environ, a.config.Relay.Env, agent))
	}
	agent.Env = slices.Clone(own.([]string))
	return agent, nil
}

// Program finds what a runner would start, without starting it.
func (a *Agents) Program(name string) (string, error) {
	agent, err := a.Named(name)
	if err != nil {
		return "", err
	}
	if agent.Type == "scripted" {
		path := a.fromRoot(agent.Script)
		if _, err := ReadFile(path, MaxScript); err != nil {
			return "", &terminal.Hinted{Err: fmt.Errorf("script of %s: %w", name, err), Hint: "correct relay.agents." + name + ".script"}
		}
		return "plays " + plaintext.Relative(a.root, path), nil
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

// Usable returns the configured runners whose programs are there, in their order, and the errors of the others. It fails when none is
// there; flag names one in its hint.
func (a *Agents) Usable(flag string) (names []string, missing []error, err error) {
	for _, name := range a.config.Relay.Runners {
		if _, err := a.Program(name); err != nil {
			missing = append(missing, fmt.Errorf("runner %s: %w", name, err))
			continue
		}
		names = append(names, name)
	}
	switch {
	case len(names) > 0:
		return names, missing, nil
	case len(missing) > 0:
		return nil, nil, NoRunner("", errors.Join(missing...))
	}
	return nil, nil, &terminal.Hinted{
		Err: errors.New("no runner is configured"), Code: terminal.NoRunner,
		Hint: "set relay.runners in " + configs.SharedFile + ", or name one: " + flag,
	}
}

// identity returns whom git names as author, as settings of git, as far as the repository itself does not say: an
// agent that hides the user's global configuration from its git needs them.
func (a *Agents) identity(ctx context.Context) []string {
	var settings []string
	for _, key := range []string{"user.name", "user.email"} {
		out, err := a.git.Run(ctx, git.Call{Args: []string{"config", "-z", "--show-scope", "--get", key}})
		scope, value, _ := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if err == nil && (scope == "global" || scope == "system") { // without any, relay check has said what comes of it
			settings = append(settings, key+"="+value)
		}
	}
	return settings
}

// fromRoot returns the absolute path of one in the configuration, which is relative to the root of the repository.
func (a *Agents) fromRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.root, filepath.FromSlash(path))
}

// ScriptedAgentCommand is the hidden command that plays a scripted agent.
const ScriptedAgentCommand = "__agent"

// ServerCommand is the command that serves MCP.
const ServerCommand = "mcp"

// MaxScript bounds a scripted agent's script, in bytes.
const MaxScript = 1 << 20

// AutoReviewer is the provider that stands for a reviewer of another vendor than the worker's.
const AutoReviewer = "auto"

// Reviewers returns the names of the reviewers of each change; none without review.
func (a *Agents) Reviewers() []string {
	c := a.config
	names := c.QualityGate.Reviewers
	if len(names) == 0 {
		names = []string{c.Relay.Review.Provider}
	}
	switch {
	case !c.Relay.Review.Enabled, names[0] == "none":
		return nil
	case names[0] == AutoReviewer:
		return a.otherVendor()
	}
	return names
}

// otherVendor returns the first agent named as a CLI whose program is there and that is of another type than any runner; none without.
func (a *Agents) otherVendor() []string {
	ours := each.Of(a.config.Relay.Runners, func(name string) string { return a.config.Relay.Agents[name].Type })
	for _, name := range kinds.Types() {
		agent, ok := a.config.Relay.Agents[name]
		if !ok || slices.Contains(ours, agent.Type) {
			continue
		}
		if _, err := a.Program(name); err == nil {
			return []string{name}
		}
	}
	return nil
}

// Asked is an agent that is asked for something, with the model that a task or the configuration names; "" is its CLI's own choice.
type Asked struct {
	Name, Model string
	Reviewer    bool
}

// AskedFor returns the agents that a task may be given to, and its reviewers. A nil task stands for all that name no agent.
func (a *Agents) AskedFor(t *epic.Task) []Asked {
	c := &a.config.Relay
	names, model := c.Runners, c.Model
	if t != nil {
		model = cmp.Or(t.Model, model)
	}
	if t != nil && t.Runner != "" {
		names = []string{t.Runner}
	}
	workers := each.Of(names, func(name string) Asked { return Asked{name, cmp.Or(model, c.Agents[name].Model), false} })
	return append(workers, each.Of(a.Reviewers(), func(name string) Asked { return Asked{name, c.Agents[name].Model, true} })...)
}

// AllAsked returns the agents that may be asked for something in the work on tasks, each once.
func (a *Agents) AllAsked(tasks []epic.Task) []Asked {
	all := a.AskedFor(nil)
	for i := range tasks {
		if t := &tasks[i]; t.Runner != "" || t.Model != "" {
			all = append(all, a.AskedFor(t)...)
		}
	}
	return each.Added(nil, all...)
}

// maxInstructions bounds what a user can tell a reviewer: it is cut to a part of that in the prompt.
const maxInstructions = 1 << 20

// Reviewer returns a reviewer with what the configuration says of it.
func (a *Agents) Reviewer(name string) (engine.Reviewer, error) {
	r := engine.Reviewer{Name: name}
	agent, err := a.Named(name)
	if err != nil {
		return r, err
	}
	r.CLI, r.Focus = agent.Type, agent.Focus
	if agent.Instructions == "" {
		return r, nil
	}
	text, err := ReadFile(a.fromRoot(agent.Instructions), maxInstructions)
	if err != nil {
		return r, &terminal.Hinted{
			Err: fmt.Errorf("instructions of %s: %w", name, err), Code: terminal.Invalid,
			Hint: "correct relay.agents." + name + ".instructions",
		}
	}
	r.Instructions = string(text)
	return r, nil
}

// CLIOf returns the kind of CLI that an agent is, and its version by where it is installed; "" for what is not known. It looks once
// for each agent.
func (a *Agents) CLIOf(name string) (kind, installed string) {
	kind = a.config.Relay.Agents[name].Type
	if kind == "scripted" {
		return "script", ""
	}
	known, ok := a.versions.Load(name)
	if !ok {
		program, err := a.Program(name)
		if err != nil {
			return kind, ""
		}
		known, _ = a.versions.LoadOrStore(name, command.InstalledVersion(program))
	}
	installed, _ = known.(string)
	return kind, installed
}

// CheckAgents makes sure that the agents are there which tasks insist on, and that what caps them can be counted.
func CheckAgents(agents *Agents, pl *Plan) error {
	for i := range pl.Epic.Tasks {
		t := &pl.Epic.Tasks[i]
		if t.Runner == "" {
			continue
		}
		if _, err := agents.Program(t.Runner); err != nil {
			return NoRunner("task "+t.ID+" wants runner "+t.Runner+": ", err)
		}
	}
	return (&Caps{agents, pl}).Check()
}

// NoRunner returns an error with exit code terminal.NoRunner and the hint of err; where goes before its text.
func NoRunner(where string, err error) error {
	e := &terminal.Hinted{Err: fmt.Errorf("%s%w", where, err), Code: terminal.NoRunner}
	if named, ok := errors.AsType[*terminal.Hinted](err); ok {
		e.Hint = named.Hint
	}
	return e
}

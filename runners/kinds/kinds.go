// Package kinds makes the runner of every type of agent that relay's configuration knows.
package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"relay/runners"
	"relay/runners/claude"
	"relay/runners/codex"
	"relay/runners/command"
	"relay/runners/cursor"
	"relay/runners/gemini"
	"relay/runners/internal/adapter"
	"relay/runners/opencode"
	"relay/runners/process"
)

// Types of agents that code or tests name.
const (
	Claude   = "claude"
	Codex    = "codex"
	Gemini   = "gemini"
	Opencode = "opencode"
	Command  = "command"
	Scripted = "scripted"
	Cursor   = "cursor" // an editor: relay reads its sessions, and does not run it
)

// Agent describes an agent of any type. Each type uses some of the fields.
type Agent struct {
	Type       string
	Name       string   // the runner's name in configuration and ledger
	Argv       []string // the program and its first arguments, or the whole command line; empty: the type's own program
	Model      string   // for requests that name none
	Permission string   // what the agent may do unasked, in the words of its CLI
	Env        []string // added to each request's environment

	MCP []string // claude, codex: command line of an MCP server for it; nil: none
	Git []string // gemini: see adapter.Options

	PromptArg  bool   // command: see command.Options
	Exit       bool   // command
	Final      bool   // command
	StopSignal string // command

	Script string // scripted: path of the script; Argv is how relay starts itself as the agent
}

// clis are the CLIs that relay knows, by type: a new one is its folder and a line here.
var clis = map[string]adapter.CLI{
	Claude:   claude.CLI(),
	Codex:    codex.CLI(),
	Gemini:   gemini.CLI(),
	Opencode: opencode.CLI(),
}

// Types returns the types of the CLIs that relay knows, in order.
func Types() []string { return slices.Sorted(maps.Keys(clis)) }

// FactsOf describes the CLI of a type. A command may be the CLI of any provider.
func FactsOf(kind string) runners.Facts {
	facts := clis[kind].Facts
	if kind == Command {
		for _, known := range clis {
			facts.Variables = append(facts.Variables, known.Facts.Variables...)
		}
	}
	return facts
}

// Recorded returns the name of an agent in records that other programs read: that of its CLI, or its own where relay does not know the CLI.
// An agent whose kind is not known is taken for the CLI of its name.
func Recorded(kind, name string) string {
	kind = cmp.Or(kind, name)
	if known, ok := clis[kind]; ok {
		return cmp.Or(known.Facts.Recorded, kind)
	}
	return name
}

// Steers reports whether a CLI looks for configuration or instructions under a name in a checkout.
func Steers(name string) bool {
	return anyFact(func(f runners.Facts) bool {
		return slices.ContainsFunc(f.Steering, func(glob string) bool {
			ok, _ := path.Match(glob, name)
			return ok
		})
	})
}

// Leaves reports whether a CLI itself writes a path in a checkout when it starts.
func Leaves(rel string) bool {
	return anyFact(func(f runners.Facts) bool { return slices.Contains(f.Leaves, rel) })
}

func anyFact(holds func(runners.Facts) bool) bool {
	for _, known := range clis {
		if holds(known.Facts) {
			return true
		}
	}
	return false
}

// New makes the runner of an agent. It fails for a type that it does not know, and for a permission that the type does not have.
func New(sup process.Supervisor, a Agent) (runners.Runner, error) {
	switch known, ok := clis[a.Type]; {
	case ok:
		o := adapter.Options{Name: a.Name, Permission: a.Permission, Model: a.Model, Env: a.Env, MCP: a.MCP, Git: a.Git}
		if len(a.Argv) > 0 {
			o.Program, o.Args = a.Argv[0], a.Argv[1:]
		}
		return known.New(sup, o)
	case a.Type == Command:
		return command.New(sup, command.Options{
			Name: a.Name, Argv: a.Argv, PromptArg: a.PromptArg, Exit: a.Exit, Final: a.Final, Model: a.Model, Env: a.Env, StopSignal: a.StopSignal,
		}), nil
	case a.Type == Scripted:
		// It is as real to its runner as any other agent: a process with a prompt on stdin, real files and commits, and a claim.
		return command.New(sup, command.Options{
			Name: cmp.Or(a.Name, Scripted), Argv: append(slices.Clone(a.Argv), a.Script), Env: a.Env, Final: true,
		}), nil
	}
	return nil, fmt.Errorf("agent %s has type %q, which this relay does not know", a.Name, a.Type)
}

// Conversation returns a reader of what an agent of a type prints. One of an unknown type is read as any command.
func Conversation(kind string) runners.MessageReader {
	if known, ok := clis[kind]; ok {
		return known.Conversation()
	}
	return command.Conversation()
}

// Structured reports whether the CLI of a type prints a JSON object on each line.
func Structured(kind string) bool { return kind != Command && kind != Scripted }

// Printed returns the type of an agent by the first line that its CLI prints; Command if no CLI prints such a line.
func Printed(text []byte) string {
	for kind, known := range clis {
		if known.Begins != nil && known.Begins(text) {
			return kind
		}
	}
	return Command
}

// OwnSessions says where the CLI of a type, or Cursor, keeps its sessions itself. It fails for another type.
func OwnSessions(kind string) (runners.OwnSessions, error) {
	if kind == Cursor {
		return cursor.OwnSessions(), nil
	}
	if known, ok := clis[kind]; ok {
		return known.OwnSessions, nil
	}
	return runners.OwnSessions{}, fmt.Errorf("relay cannot read the sessions of %q: it reads those of %s and %s", kind, strings.Join(Types(), ", "), Cursor)
}

// OwnSettings reads what the settings of a type's CLI say of its model, in an environment and for a checkout in dir. model is the
// one that the agent is asked to take; "": none.
func OwnSettings(kind string, env []string, dir, model string) runners.OwnSettings {
	if settings := clis[kind].OwnSettings; settings != nil {
		return settings(env, dir, model)
	}
	return runners.OwnSettings{}
}

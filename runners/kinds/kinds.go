// Package kinds makes the runner of every type of agent that relay's configuration knows.
package kinds

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"relay/runners"
	"relay/runners/claude"
	"relay/runners/codex"
	"relay/runners/command"
	"relay/runners/gemini"
	"relay/runners/internal/adapter"
	"relay/runners/opencode"
	"relay/runners/process"
)

// The types of agents.
const (
	Claude   = "claude"
	Codex    = "codex"
	Gemini   = "gemini"
	Opencode = "opencode"
	Command  = "command"
	Scripted = "scripted"
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

// cli has what is particular to the CLI of a type. A function that is nil means that relay knows nothing of the kind.
type cli struct {
	runner       func(process.Supervisor, adapter.Options) (runners.Runner, error)
	conversation func() runners.MessageReader
	printed      func(first line) bool // whether it prints such a line first
	settings     func(env []string, dir, model string) runners.OwnSettings
}

// line is a line of JSON that a CLI prints.
type line struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Thread    string `json:"thread_id"`
	Opencode  string `json:"sessionID"`
}

// clis are the CLIs that relay knows, by type.
var clis = map[string]cli{
	Claude: {
		runner: func(sup process.Supervisor, o adapter.Options) (runners.Runner, error) {
			return claude.New(sup, o), nil
		},
		conversation: claude.Conversation,
		printed:      func(first line) bool { return first.Type == "system" && first.Subtype != "" },
	},
	Codex: {
		runner:       func(sup process.Supervisor, o adapter.Options) (runners.Runner, error) { return codex.New(sup, o), nil },
		conversation: codex.Conversation, settings: codex.OwnSettings,
		printed: func(first line) bool { return first.Type == "thread.started" && first.Thread != "" },
	},
	Gemini: {
		runner: func(sup process.Supervisor, o adapter.Options) (runners.Runner, error) {
			return gemini.New(sup, o), nil
		},
		conversation: gemini.Conversation, settings: gemini.OwnSettings,
		printed: func(first line) bool { return first.Type == "init" && first.SessionID != "" },
	},
	Opencode: {
		runner:       opencode.New,
		conversation: opencode.Conversation, settings: opencode.OwnSettings,
		printed: func(first line) bool { return first.Opencode != "" },
	},
}

// New makes the runner of an agent. It fails for a type that it does not know, and for a permission that the type does not have.
func New(sup process.Supervisor, a Agent) (runners.Runner, error) {
	switch known, ok := clis[a.Type]; {
	case ok:
		o := adapter.Options{Name: a.Name, Permission: a.Permission, Model: a.Model, Env: a.Env, MCP: a.MCP, Git: a.Git}
		if len(a.Argv) > 0 {
			o.Program, o.Args = a.Argv[0], a.Argv[1:]
		}
		return known.runner(sup, o)
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
		return known.conversation()
	}
	return command.Conversation()
}

// Structured reports whether the CLI of a type prints a JSON object on each line.
func Structured(kind string) bool { return kind != Command && kind != Scripted }

// Printed returns the type of an agent by the first line that its CLI prints; Command if no CLI prints such a line.
func Printed(text []byte) string {
	var first line
	if json.Unmarshal(text, &first) == nil {
		for kind, known := range clis {
			if known.printed(first) {
				return kind
			}
		}
	}
	return Command
}

// OwnSettings reads what the settings of a type's CLI say of its model, in an environment and for a checkout in dir. model is the
// one that the agent is asked to take; "": none.
func OwnSettings(kind string, env []string, dir, model string) runners.OwnSettings {
	if settings := clis[kind].settings; settings != nil {
		return settings(env, dir, model)
	}
	return runners.OwnSettings{}
}

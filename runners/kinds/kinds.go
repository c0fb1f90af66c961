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
	"relay/runners/conversation"
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

// New makes the runner of an agent. It fails for a type that it does not know, and for a permission that the type does not have.
func New(sup process.Supervisor, a Agent) (runners.Runner, error) {
	program, args := "", a.Argv
	if len(args) > 0 {
		program, args = args[0], args[1:]
	}
	o := adapter.Options{
		Name: a.Name, Program: program, Args: args, Permission: a.Permission, Model: a.Model, Env: a.Env, MCP: a.MCP, Git: a.Git,
	}
	switch a.Type {
	case Claude:
		return claude.New(sup, o), nil
	case Codex:
		return codex.New(sup, o), nil
	case Gemini:
		return gemini.New(sup, o), nil
	case Opencode:
		r, err := opencode.New(sup, o)
		if err != nil {
			return nil, err // and no runner that is a nil pointer
		}
		return r, nil
	case Command:
		return command.New(sup, command.Options{
			Name: a.Name, Argv: a.Argv, PromptArg: a.PromptArg, Exit: a.Exit, Final: a.Final, Model: a.Model, Env: a.Env, StopSignal: a.StopSignal,
		}), nil
	case Scripted:
		// It is as real to its runner as any other agent: a process with a prompt on stdin, real files and commits, and a claim.
		return command.New(sup, command.Options{
			Name: cmp.Or(a.Name, Scripted), Argv: append(slices.Clone(a.Argv), a.Script), Env: a.Env, Final: true,
		}), nil
	}
	return nil, fmt.Errorf("agent %s has type %q, which this relay does not know", a.Name, a.Type)
}

// Conversation returns a reader of what an agent of a type prints. One of an unknown type is read as any command.
func Conversation(kind string) conversation.Reader {
	switch kind {
	case Claude:
		return claude.Conversation()
	case Codex:
		return codex.Conversation()
	case Gemini:
		return gemini.Conversation()
	case Opencode:
		return opencode.Conversation()
	}
	return command.Conversation()
}

// Structured reports whether the CLI of a type prints a JSON object on each line.
func Structured(kind string) bool { return kind != Command && kind != Scripted }

// Printed tells the type of an agent by the first line that its CLI prints; Command for one that is no CLI's.
func Printed(line []byte) string {
	var first struct {
		Type      string `json:"type"`
		Subtype   string `json:"subtype"`
		SessionID string `json:"session_id"`
		Thread    string `json:"thread_id"`
		Opencode  string `json:"sessionID"`
	}
	if json.Unmarshal(line, &first) != nil {
		return Command
	}
	switch {
	case first.Type == "system" && first.Subtype != "":
		return Claude
	case first.Type == "thread.started" && first.Thread != "":
		return Codex
	case first.Type == "init" && first.SessionID != "":
		return Gemini
	case first.Opencode != "":
		return Opencode
	}
	return Command
}

// Kept returns a reader of the files in which the CLI of a type keeps its sessions; nil for one whose files are not known.
func Kept(kind string) conversation.Reader {
	switch kind {
	case Claude:
		return claude.Kept()
	case Codex:
		return codex.Kept()
	}
	return nil
}

// OwnSettings reads what the settings of a type's CLI say of its model, in an environment and for a checkout in dir. model is the
// one that the agent is asked to take; "": none.
func OwnSettings(kind string, env []string, dir, model string) runners.OwnSettings {
	switch kind {
	case Codex:
		return codex.OwnSettings(env)
	case Gemini:
		return gemini.OwnSettings(env, dir)
	case Opencode:
		return opencode.OwnSettings(env, dir, model)
	}
	return runners.OwnSettings{}
}

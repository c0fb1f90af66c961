package runners

import (
	"context"

	"relay/runners/process"
)

// ScriptedOptions configure the scripted agent.
type ScriptedOptions struct {
	Name   string   // "" : "scripted"
	Argv   []string // how relay starts itself as the scripted agent; the script's path is added
	Script string   // path of the script, absolute
	Env    []string
}

// Scripted is an agent that needs no model: relay itself, started again, carrying out a script. It is as real to its
// runner as any other agent: a process with a prompt on stdin, real files and commits, and a claim.
type Scripted struct{ command *Command }

// NewScripted returns the runner of the scripted agent.
func NewScripted(sup process.Supervisor, o ScriptedOptions) *Scripted {
	if o.Name == "" {
		o.Name = "scripted"
	}
	argv := append(append([]string(nil), o.Argv...), o.Script)
	return &Scripted{NewCommand(sup, CommandOptions{Name: o.Name, Argv: argv, Env: o.Env, Final: true})}
}

// Name is the runner's name in configuration and ledger.
func (s *Scripted) Name() string { return s.command.Name() }

// Run runs the script's steps for the request's task and attempt.
func (s *Scripted) Run(ctx context.Context, req Request) (Report, error) {
	return s.command.Run(ctx, req)
}

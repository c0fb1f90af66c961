// Package script runs the scripted agent, which needs no model, and is that agent: it reads scripts and carries them out.
package script

import (
	"context"

	"relay/runners"
	"relay/runners/command"
	"relay/runners/process"
)

// Options configure the scripted agent.
type Options struct {
	Name   string   // "" : "scripted"
	Argv   []string // how relay starts itself as the scripted agent; the script's path is added
	Script string   // path of the script, absolute
	Env    []string
}

// Runner runs an agent that needs no model: relay itself, started again, carrying out a script. It is as real to its
// runner as any other agent: a process with a prompt on stdin, real files and commits, and a claim.
type Runner struct{ command *command.Runner }

// New returns the runner of the scripted agent.
func New(sup process.Supervisor, o Options) *Runner {
	if o.Name == "" {
		o.Name = "scripted"
	}
	argv := append(append([]string(nil), o.Argv...), o.Script)
	return &Runner{command.New(sup, command.Options{Name: o.Name, Argv: argv, Env: o.Env, Final: true})}
}

// Name returns the runner's name in configuration and ledger.
func (s *Runner) Name() string { return s.command.Name() }

// Run runs the script's steps for the request's task and attempt.
func (s *Runner) Run(ctx context.Context, req runners.Request) (runners.Report, error) {
	return s.command.Run(ctx, req)
}

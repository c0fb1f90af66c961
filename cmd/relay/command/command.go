// Package command holds relay's commands, one file each: flags, help and wiring. Another module builds its own relay with [Main].
package command

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/engine"
	"relay/orchestrator/secrets"
)

// The collector begins to work for every byte at memoryLimit: with the pages of the program and what SQLite takes, relay stays about
// 64 MiB. Below that it may let the heap grow by this many per cent, unless GOGC says otherwise: most of what relay does ends before
// there is anything worth collecting.
const (
	memoryLimit = 38 << 20
	heapGrowth  = 300
)

// Options are what a program adds to relay.
type Options struct {
	Engines map[string]engine.Factory // by name, besides engine.Local
	Engine  string                    // name of the engine that carries attempts out; "": engine.Local
	Wire    engine.Wire               // between a run and its engine; nil: none

	Commands func(m Machine) []*cobra.Command // further ones; nil: none
	Check    cli.Beyond                       // what relay check is to look at besides; nil: nothing
}

// Machine is this machine, for the commands of another module.
type Machine = session.Machine

// Main runs relay in this process, with the arguments, environment and streams of the process, and returns its exit code.
func Main(o Options) int {
	debug.SetMemoryLimit(memoryLimit)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	return relay(context.Background(), newApp(o), os.Args[1:])
}

// newApp returns what commands need, of this process.
func newApp(o Options) *cli.App {
	a := &cli.App{
		In: os.Stdin, Out: terminal.NewWriter(os.Stdout), Err: terminal.NewWriter(os.Stderr),
		Environ: os.Environ(), Now: time.Now, Engines: o.Engines, Engine: o.Engine, Wire: o.Wire, Beyond: o.Check,
	}
	a.Secrets = secrets.New(a.Environ)
	if o.Commands != nil {
		a.Further = o.Commands(Machine{App: a})
	}
	a.Out.Redact, a.Err.Redact = a.Secrets.Values, a.Secrets.Values
	return a
}

// relay is the program from its arguments to its exit code.
func relay(ctx context.Context, a *cli.App, args []string) int {
	if code, done := session.Forward(ctx, a, args); done {
		return code
	}
	root := newRootCommand(a) //nolint:contextcheck // commands get ctx from ExecuteContext
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.Out.Failure()
	}
	return a.ReportError(err)
}

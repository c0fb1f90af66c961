// Command relay runs AI agent CLIs over an epic's task graph, unattended, and can prove afterwards what it did.
package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/secrets"
)

// The collector begins to work for every byte at memoryLimit: with the pages of the program and what SQLite takes, relay stays about
// 64 MiB. Below that it may let the heap grow by this many per cent, unless GOGC says otherwise: most of what relay does ends before
// there is anything worth collecting.
const (
	memoryLimit = 38 << 20
	heapGrowth  = 300
)

func main() {
	os.Exit(runProcess(newApp()))
}

// runProcess is the program in this process, from its arguments to its exit code.
func runProcess(a *cli.App) int {
	debug.SetMemoryLimit(memoryLimit)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	return relay(context.Background(), a, os.Args[1:])
}

// newApp returns what commands need, of this process.
func newApp() *cli.App {
	a := &cli.App{
		In: os.Stdin, Out: terminal.NewWriter(os.Stdout), Err: terminal.NewWriter(os.Stderr),
		Environ: os.Environ(), Now: time.Now,
	}
	a.Secrets = secrets.New(a.Environ)
	a.Out.Redact, a.Err.Redact = a.Secrets.Values, a.Secrets.Values
	return a
}

// relay is the program from its arguments to its exit code.
func relay(ctx context.Context, a *cli.App, args []string) int {
	root := newRootCommand(a) //nolint:contextcheck // commands get ctx from ExecuteContext
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.Out.Failure()
	}
	return a.ReportError(err)
}

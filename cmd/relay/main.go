// Command relay runs AI agent CLIs over an epic's task graph, unattended, and can prove afterwards what it did.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/secrets"
)

// The collector begins to work for every byte at memoryLimit, for relay promises to stay below 64 MiB. Below that it may
// let the heap grow by this many per cent, unless GOGC says otherwise: most of what relay does ends before there is anything
// worth collecting.
const (
	memoryLimit = 44 << 20
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
	return reportError(a, err)
}

// reportError tells the user of an error and returns the exit code that belongs to it.
func reportError(a *cli.App, err error) int {
	var code exit.Code
	switch {
	case err == nil:
		return exit.OK
	case errors.As(err, &code):
		return int(code)
	}
	d := exit.Diagnose(err)
	for _, m := range d.Messages {
		for row := range strings.SplitSeq(m, "\n") {
			fmt.Fprintf(a.Err, "relay: error: %s\n", a.Secrets.Text(row))
		}
	}
	for row := range strings.Lines(d.Hint) {
		if !strings.HasPrefix(row, " ") { // else it belongs to an example
			row = "relay: hint: " + row
		}
		fmt.Fprintln(a.Err, strings.TrimSuffix(row, "\n"))
	}
	return d.Code
}

//go:build !windows

// Command relay-temporal is relay with an engine more, which has other machines carry attempts out.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"relay/cmd/relay-temporal/internal/host"
	"relay/cmd/relay-temporal/internal/machines"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/cmd/relay/command"
	"relay/orchestrator/engine"
)

// engineName is the name of the engine.
const engineName = "machines"

// stopGrace is how long a host may take to stop an attempt, keep its work and push that.
const stopGrace = 2 * time.Minute

func main() {
	environ := os.Environ()
	read := func() (*settings.Machines, machines.Jobs, error) {
		m, err := settings.Read(environ)
		if err != nil {
			return nil, nil, err
		}
		self, err := os.Executable()
		return m, &host.Processes{Hosts: m.Hosts, Program: []string{self, "carry"}, Environ: environ, Grace: stopGrace}, err
	}
	os.Exit(command.Main(command.Options{
		Engine: engineName, Engines: map[string]engine.Factory{engineName: machines.New(read)},
		Commands: func(here command.Machine) []*cobra.Command { return []*cobra.Command{newCarryCommand(environ, here)} },
	}))
}

func newCarryCommand(environ []string, here command.Machine) *cobra.Command {
	return &cobra.Command{
		Use:    "carry",
		Short:  "Carry out on this machine the order on stdin",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host.Alive()
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGHUP) // who has given the order may be gone
			ctx, cancel := context.WithCancelCause(cmd.Context())
			defer cancel(nil)
			stop := make(chan os.Signal, 1)
			signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
			go func() { <-stop; cancel(order.ErrStopped) }()
			m, err := settings.Read(environ)
			if err != nil {
				return err
			}
			h := &host.Host{Settings: m, Environ: environ, Carry: here.Carry}
			return h.Serve(ctx, os.Stdin, os.Stdout)
		},
	}
}

//go:build !windows

// Command relay-temporal is relay with an engine more, which has other machines carry attempts out.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/host"
	"relay/cmd/relay-temporal/internal/machines"
	"relay/cmd/relay-temporal/internal/order"
	"relay/cmd/relay-temporal/internal/settings"
	"relay/cmd/relay-temporal/internal/temporal"
	"relay/cmd/relay/command"
	"relay/orchestrator/engine"
	"relay/runners"
)

// engineName is the name of the engine.
const engineName = "machines"

// stopGrace is how long a host may take to stop an attempt, keep its work and push that.
const stopGrace = 2 * time.Minute

// forPerson is how long a server that is away is tried, at most, for a person who waits for the answer.
const forPerson = 15 * time.Second

func main() {
	environ := os.Environ()
	open := func(ctx context.Context, patience time.Duration) (*settings.Machines, machines.Jobs, error) {
		m, err := settings.Read(environ)
		if err != nil {
			return nil, nil, err
		}
		if m.Temporal == nil {
			homes := map[string]string{}
			for _, h := range m.Hosts {
				homes[h.Name] = h.Home
			}
			p, err := processes(environ, homes)
			return m, p, err
		}
		c, err := temporal.Dial(ctx, m.Temporal, min(patience, m.Patience), "relay")
		return m, &temporal.Jobs{Client: c, Settings: m.Temporal, Patience: m.Patience, Grace: stopGrace}, err
	}
	os.Exit(command.Main(command.Options{
		Engine: engineName, Engines: map[string]engine.Factory{engineName: machines.New(open)},
		Commands: func(here command.Machine) []*cobra.Command {
			return []*cobra.Command{
				newCarryCommand(environ, here), newWorkerCommand(environ), newDrainCommand(open), newSweepCommand(environ, here), newCertsCommand(),
			}
		},
		Check: func(ctx context.Context, root string, ask bool, add func(state, name, message, fix string)) {
			m, jobs, err := open(ctx, forPerson)
			if err == nil {
				err = machines.Check{Root: root, Agents: ask, Add: add}.Of(ctx, m, jobs)
			}
			if no, ok := errors.AsType[*attempts.RefusedError](err); ok {
				add("fail", "hosts", no.Reason, no.Hint)
			} else if err != nil {
				add("fail", "hosts", err.Error(), "")
			}
		},
	}))
}

// processes carry orders out as processes of this machine.
func processes(environ []string, homes map[string]string) (*host.Processes, error) {
	self, err := os.Executable()
	return &host.Processes{Homes: homes, Program: []string{self, "carry"}, Environ: environ, Grace: stopGrace}, err
}

func newCarryCommand(environ []string, here command.Machine) *cobra.Command {
	name, question := "", false
	c := &cobra.Command{
		Use:    "carry",
		Short:  "Carry out on this machine the order on stdin",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := settings.Read(environ)
			if err != nil {
				return err
			}
			m.Host.Name = cmp.Or(name, m.Host.Name)
			h := &host.Host{Settings: m, Environ: environ, Machine: here}
			if question {
				return h.Answer(cmd.Context(), os.Stdin, os.Stdout)
			}
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGHUP) // who has given the order may be gone
			ctx, cancel := context.WithCancelCause(cmd.Context())
			defer cancel(nil)
			host.Alive(ctx, func() { cancel(errors.New("its worker was silent for the heartbeat")) })
			stop := make(chan os.Signal, 1)
			signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
			go func() { <-stop; cancel(order.ErrStopped) }()
			return h.Serve(ctx, os.Stdin, os.Stdout)
		},
	}
	c.Flags().StringVar(&name, "name", "", "NAME of this host")
	c.Flags().BoolVar(&question, "question", false, "answer the question on stdin instead")
	return c
}

func newDrainCommand(open machines.Opener) *cobra.Command {
	return &cobra.Command{
		Use:   "drain HOST…",
		Short: "Have the worker of a host end when its attempts have ended",
		Long: `Have the worker of a host finish what runs there, take nothing new, and end.

The command returns when the worker has heard it. A run gives its orders to other hosts then; relay-temporal worker on the host brings it back.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, hosts []string) error {
			_, jobs, err := open(cmd.Context(), forPerson)
			if err != nil {
				return err
			}
			for _, name := range hosts {
				if _, failed := machines.Ask(cmd.Context(), jobs, name, order.Question{What: order.Drain}); failed != nil {
					err = errors.Join(err, fmt.Errorf("%s does not drain: %w", name, failed))
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s drains: its worker ends when its attempts have ended\n", name)
			}
			return err
		},
	}
}

func newWorkerCommand(environ []string) *cobra.Command {
	w := &temporal.Worker{}
	c := &cobra.Command{
		Use:   "worker --name NAME",
		Short: "Carry out orders on this machine",
		Long: `Carry out orders of relay-temporal work, run elsewhere, on this machine.

The orders come from the Temporal server in machines.yml. SIGTERM drains: the worker takes nothing new, and ends when what runs has ended.
A second SIGTERM stops that, too. A worker that starts again goes on with what one that was killed has left.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := settings.Read(environ)
			if err != nil {
				return err
			}
			if m.Temporal == nil {
				return &attempts.RefusedError{
					Reason: settings.Path(environ) + " names no Temporal server", Hint: "temporal: {address: HOST:7233}",
				}
			}
			w.Name = cmp.Or(w.Name, m.Host.Name)
			if w.Name == "" || strings.ContainsAny(w.Name, "/\\ \t\n") { // it names a queue
				return errors.New("a host needs a name of one word: --name build1")
			}
			p, err := processes(environ, map[string]string{w.Name: runners.Variable(environ, "HOME")})
			if err != nil {
				return err
			}
			p.Program = append(p.Program, "--name", w.Name)
			ctx, stop := context.WithCancelCause(cmd.Context())
			defer stop(nil)
			draining, drain := context.WithCancelCause(ctx)
			signals := make(chan os.Signal, 2)
			signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
			go func() {
				<-signals
				drain(temporal.ErrDrain)
				<-signals
				stop(order.ErrStopped)
			}()
			w.Log = log.New(cmd.ErrOrStderr(), "", log.Ltime).Printf //nolint:forbidigo // a worker has no other listener
			w.Jobs, w.Beat, w.Processes, w.Drain = max(w.Jobs, 1), m.Temporal.Beat, p, drain
			return w.Run(ctx, draining, m)
		},
	}
	c.Flags().StringVar(&w.Name, "name", "", "NAME of this host in machines.yml where the run is (default: host.name of machines.yml here)")
	c.Flags().IntVarP(&w.Jobs, "jobs", "j", 1, "attempts at a time")
	c.Flags().StringSliceVar(&w.Labels, "labels", nil, "labels of this host, as in machines.yml where the run is")
	return c
}

func newSweepCommand(environ []string, here command.Machine) *cobra.Command {
	var days int
	var dry bool
	c := &cobra.Command{
		Use:   "sweep",
		Short: "Remove orders and results of old runs from the remote",
		Long: `Remove from remote of machines.yml the orders and results of runs that began long ago, of all projects. A run removes its own when it ends without an error;
what is left is of runs that were killed and not continued, and of hosts that reported after the end. Hosts tidy their clones themselves.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 {
				return errors.New("--days is at least 1: the orders of a run that goes on are young")
			}
			m, err := settings.Read(environ)
			if err != nil {
				return err
			}
			dir, err := here.App.Folder()
			if err != nil {
				return err
			}
			refs, err := machines.Sweep(cmd.Context(), m, dir, time.Now().AddDate(0, 0, -days), dry)
			for _, ref := range refs {
				fmt.Fprintln(cmd.OutOrStdout(), ref)
			}
			return err
		},
	}
	c.Flags().IntVar(&days, "days", 30, "of runs that began at least so many days ago")
	c.Flags().BoolVar(&dry, "dry-run", false, "list what would be removed, and remove nothing")
	return c
}

func newCertsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "certs DIR [ADDRESS…]",
		Short: "Make certificates for a Temporal server and its clients",
		Long: `Make in DIR an authority (ca.pem, ca-key.pem), the certificate of a server (server.pem, server-key.pem) for localhost and each
ADDRESS, and that of clients (client.pem, client-key.pem). A file that is there stays; remove server.pem to make it for other addresses.

Copy ca.pem, client.pem and client-key.pem to each machine. Keep ca-key.pem to yourself: who has it can make clients, and clients control
the hosts. The certificates end after two years.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return temporal.Certs(args[0], args[1:], time.Now()) },
	}
}

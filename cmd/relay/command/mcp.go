package command

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/mcpserver"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/recorded"
	"relay/cmd/relay/internal/serve"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
)

func newMCPCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   project.ServerCommand,
		Short: "Serve agents by the Model Context Protocol",
		Long: `Serve an agent or another client of the Model Context Protocol on stdin and
stdout: tools that tell how the epic and its tasks stand, and the five actions
of relay discuss. An agent that relay has started can also report its progress
and its result. It ends when its client is gone.`,
		Example: "  claude mcp add relay -- relay mcp\n  codex mcp add relay -- relay mcp",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), a) },
	}
}

func runMCP(ctx context.Context, a *cli.App) error {
	if a.CanAsk() {
		return &terminal.UsageError{Message: "relay mcp talks to a client of MCP, and this is a terminal", Hint: "claude mcp add relay -- relay mcp"}
	}
	if a.Epic != "" {
		if _, _, err := a.PlannedAnyhow(ctx); err != nil {
			return err
		}
	}
	served := &cli.Inner{App: a, Dir: a.Dir, Epic: a.Epic, Relay: relay}
	if p, err := a.Repository(ctx); err == nil {
		if top, inside := cli.CheckoutOfRun(ctx, a, p); inside {
			served.Dir = top
			if a.Epic == "" && filepath.Base(filepath.Dir(a.Lookup("RELAY_DIR"))) == project.ListedFolder {
				served.Epic = a.Lookup("RELAY_EPIC")
			}
		}
	}
	socket := session.SocketOfRun(ctx, a)
	do := func(ctx context.Context, args []string, input []byte) (answer, warnings string, err error) {
		if socket != "" {
			return session.AskInside(ctx, socket, args, input)
		}
		return carryOut(ctx, served, args, input)
	}
	return mcpserver.Serve(ctx, mcpserver.Options{
		In: io.NopCloser(a.In), Out: unclosed{a.Out.Dest}, Version: project.RelayVersion(),
		Run: func(ctx context.Context, args ...string) (string, error) {
			answer, _, err := do(ctx, args, nil)
			return answer, err
		},
		Discuss: func(ctx context.Context, action string, input []byte) (answer, warnings string, err error) {
			return do(ctx, []string{"discuss", action}, input)
		},
		Redact: a.Secrets.Text, Lookup: a.Lookup, Now: a.Now,
	})
}

// inside carries out commands for processes in the sandbox, each as one of the attempt that a mark names.
func inside(a *cli.App) func(context.Context, *project.Project, string, []string, []byte) (string, string, error) {
	return func(ctx context.Context, p *project.Project, mark string, args []string, input []byte) (string, string, error) {
		own := *a
		own.Environ = append(slices.Clone(a.Environ), "RELAY_ATTEMPT="+mark, "RELAY_DIR="+p.Dir)
		served := &cli.Inner{App: &own, Dir: p.Root, Relay: relay}
		if p.EpicFlag() != "" {
			served.Epic = filepath.Base(p.Dir)
		}
		return carryOut(ctx, served, args, input)
	}
}

// carryOut carries out a command, or an action on discussions.
func carryOut(ctx context.Context, served *cli.Inner, args []string, input []byte) (answer, warnings string, err error) {
	if args[0] == "discuss" {
		return recorded.DiscussIn(ctx, served, args[1], input)
	}
	answer, err = served.Run(ctx, args...)
	return answer, "", err
}

func newServeCommand(a *cli.App) *cobra.Command {
	opts := serve.Options{App: a}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show the night in a browser on this machine",
		Long: `Show the night in a browser while it goes on, and afterwards: what needs you,
the graph, the timeline, each task with its attempts, money, and all runs. It
only reads, unless --control also lets you decide there as relay gate, ungate,
answer, approve, retry, stop and pause do.

The pages are for this machine and for whoever has the printed address. For
another machine: ssh -L PORT:127.0.0.1:PORT HOST`,
		Args: cobra.NoArgs,
		RunE: located(a.LocateAnyhow, func(ctx context.Context, p *project.Project, _ []string) error {
			opts.Run = (&cli.Inner{App: a, Dir: a.Dir, Epic: a.Epic, Relay: relay}).Run
			return serve.Serve(ctx, p, &opts)
		}),
	}
	cmd.Flags().StringVar(&opts.Addr, "addr", "127.0.0.1:0", "listen at `HOST:PORT`; port 0 takes a free one")
	cmd.Flags().BoolVar(&opts.Open, "open", false, "open the browser")
	cmd.Flags().BoolVar(&opts.Control, "control", false, "let the browser decide, too")
	return cmd
}

// unclosed is a stream that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

package command

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/report"
)

type statusOptions struct {
	app      *cli.App
	short    bool // of --json, without the night: what an agent reads costs it tokens
	playlist string

	verbose, all, json, watch bool
}

func newStatusCommand(a *cli.App) *cobra.Command {
	opts := statusOptions{app: a}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how the epic stands and what needs you",
		Long: `Show how the epic stands: what is done, what runs, what is gated and why, and
what a blocked task waits for. It writes nothing, and works during a run.
Of an epic with more than 50 tasks those that run or need a person have a line
each, and the others are grouped by what they wait for; --all lists all, and
--verbose also the receipt of every attempt. relay report covers a whole night.
With --playlist it shows how the epics of a list stand, by their ledgers;
--verbose shows each as relay status --epic does.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "list every task, with the receipts of its attempts")
	cmd.Flags().BoolVarP(&opts.all, "all", "a", false, "list every task of a long epic")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&opts.watch, "watch", "w", false, "update until the run ends")
	withSchema(cmd, "print the JSON Schema of --json", func() error { return a.PrintJSON(json.RawMessage(status.Schema)) })
	cmd.Flags().StringVar(&opts.playlist, "playlist", "", "show the epics of the list `FILE`")
	cmd.Flags().BoolVar(&opts.short, "short", false, "leave the night out of --json")
	_ = cmd.Flags().MarkHidden("short")
	cmd.MarkFlagsMutuallyExclusive("json", "watch", "schema")
	return cmd
}

func runStatus(ctx context.Context, opts statusOptions) error {
	if opts.playlist != "" {
		return statusOfList(ctx, opts)
	}
	p, err := opts.app.LocateAnyhow(ctx)
	if err != nil {
		return err
	}
	if opts.watch {
		return watchStatus(ctx, opts, p)
	}
	status.Bound()
	s, err := status.Read(ctx, p, opts.verbose)
	if err != nil {
		return err
	}
	if opts.json && !opts.short {
		err = status.AddNight(s, p, opts.app.Now())
	}
	if err != nil {
		return err
	}
	if opts.json {
		return opts.app.PrintJSON(s)
	}
	status.Write(opts.app.Out, s, opts.printer(p))
	return nil
}

func (o statusOptions) printer(p *project.Project) status.Printer {
	l := cli.Printer(o.app, p)
	l.Verbose, l.All = o.verbose, o.all
	return l
}

// statusOfList shows how the epics of a playlist stand.
func statusOfList(ctx context.Context, opts statusOptions) error {
	if opts.watch {
		return &terminal.UsageError{Message: "--watch follows one epic, and a playlist has several", Hint: "relay status --epic ID --watch"}
	}
	p, list, err := opts.app.Playlist(ctx, opts.playlist)
	if err != nil {
		return err
	}
	s, err := status.ReadList(ctx, p, list)
	if err != nil {
		return err
	}
	if opts.json {
		return opts.app.PrintJSON(s)
	}
	status.WriteList(opts.app.Out, s, opts.printer(p))
	return nil
}

// watchEvery is how often relay reads a watched status.
const watchEvery = time.Second

// watchStatus shows the status again and again, until the run is over.
func watchStatus(ctx context.Context, opts statusOptions, p *project.Project) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	live := terminal.IsTerminal(opts.app.Out.Dest)
	for {
		s, err := status.Read(ctx, p, opts.verbose)
		if err != nil {
			return err
		}
		if live {
			// Home, and erase what was there: these bytes are relay's own and go past the scrubber.
			_, _ = opts.app.Out.Dest.Write([]byte("\x1b[H\x1b[2J"))
		}
		status.Write(opts.app.Out, s, opts.printer(p))
		if s.Run.State != report.Running && !s.Run.GoesOn(opts.app.Now()) || opts.app.Out.Err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

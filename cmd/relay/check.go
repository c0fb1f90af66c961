package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/checkup"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
	"relay/runners/process"
)

type checkOptions struct {
	app  *app
	json bool
	run  bool
}

func newCheckCommand(a *app) *cobra.Command {
	opts := checkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look at everything that could fail at 03:00",
		Long: `Look at everything that could fail at 03:00: repository, configuration, epic,
ledger, runners, disk. Every line that is not ok says what to do about it.
With --run it also runs every check of the epic and of its tasks once, in clean
checkouts, or in yours where a run has no worktrees, and says which of them
cannot run at all.

Exit code 0 when nothing fails; warnings do not count.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCheck(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&opts.run, "run", false, "also run every check once, as a run does before each agent")
	return cmd
}

// checkAnswer is what relay check --json prints.
type checkAnswer struct {
	OK     bool            `json:"ok"`
	Points []checkup.Point `json:"points"`
}

func runCheck(ctx context.Context, opts checkOptions) error {
	points := checkup.Run(ctx, opts.host())
	code := exit.OK
	for _, p := range points {
		if p.State == checkup.Fail && code == exit.OK {
			code = p.Code
		}
	}
	if opts.json {
		if err := opts.app.printJSON(checkAnswer{OK: code == exit.OK, Points: points}); err != nil {
			return err
		}
	} else {
		tellPoints(opts.app.out, points)
	}
	if code != exit.OK {
		return exit.Code(code)
	}
	return nil
}

func tellPoints(w io.Writer, points []checkup.Point) {
	counts, widest := map[string]int{}, 0
	for _, p := range points {
		widest = max(widest, len(p.Name))
	}
	for i, p := range points {
		counts[p.State]++
		fmt.Fprintf(w, "%-4s  %s  %s\n", p.State, terminal.Pad(p.Name, widest), safe(p.Message))
		if p.Fix != "" && (i+1 == len(points) || points[i+1].Fix != p.Fix) {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", widest+8), safe(p.Fix))
		}
	}
	switch {
	case counts[checkup.Fail] > 0:
		fmt.Fprintf(w, "\n%s to put right before relay work\n", count(counts[checkup.Fail], "thing"))
	case counts[checkup.Warn] > 0:
		fmt.Fprintf(w, "\nready, with %s: relay work\n", count(counts[checkup.Warn], "warning"))
	default:
		fmt.Fprint(w, "\nready: relay work\n")
	}
}

// host gives the examination what only the program has.
func (o checkOptions) host() checkup.Host {
	a := o.app
	return checkup.Host{
		Session:   a.session,
		Guardian:  func() (*process.Guardian, error) { return a.guarded(func() error { return nil }) },
		StayAwake: a.canStayAwake,
		RunOptions: func(ctx context.Context, p *project.Project, pl *project.Plan) orchestrator.Options {
			work := workOptions{app: a}
			return work.options(ctx, p, pl)
		},
		RunChecks: o.run,
	}
}

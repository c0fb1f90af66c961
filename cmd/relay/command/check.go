package command

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/checkup"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
)

type checkOptions struct {
	app            *cli.App
	json, run, ask bool
}

func newCheckCommand(a *cli.App) *cobra.Command {
	opts := checkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check everything that could make a run fail",
		Long: `Check everything that could make a run fail: repository, configuration, epic,
ledger, runners, disk. Every line that is not ok says what to do about it.
With --run it also runs every check of the epic and of its tasks once, in clean
checkouts where a run has worktrees, and lists what they came to. It warns of
checks that lack a program, run no test, misspell a path, or still pass when the
files of their task, but for tests, are emptied.

With --ask it also sends each runner and reviewer one tiny request, all at once,
with the flags of a run, and says which of them answer: login, model, flags,
limits. That costs a few tokens.

Exit code 0 when nothing fails; warnings do not count.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCheck(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&opts.run, "run", false, "also run every check once, and say what it is worth")
	cmd.Flags().BoolVar(&opts.ask, "ask", false, "also send each runner and reviewer one tiny request")
	return cmd
}

// checkAnswer is what relay check --json prints.
type checkAnswer struct {
	OK     bool            `json:"ok"`
	Points []checkup.Point `json:"points"`
	Checks []checkup.Check `json:"checks,omitempty"` // with --run
}

func runCheck(ctx context.Context, opts checkOptions) error {
	points, tried := checkup.Run(ctx, session.CheckupHost(opts.app, opts.run, opts.ask))
	code := terminal.OK
	for _, p := range points {
		if p.State == checkup.Fail && code == terminal.OK {
			code = p.Code
		}
	}
	if !opts.json {
		checkup.Write(opts.app.Out, points, tried)
	}
	err := cli.Print(opts.app, opts.json, checkAnswer{OK: code == terminal.OK, Points: points, Checks: tried})
	return cmp.Or(err, terminal.Exit(code))
}

// Point is one thing that relay check looked at.
type Point = checkup.Point

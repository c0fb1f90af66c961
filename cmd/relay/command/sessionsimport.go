package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/sessionkeeper"
)

type sessionsImportOptions struct {
	app  *cli.App
	what string // a run or a path; "": everything
	json bool
}

func newSessionsImportCommand(a *cli.App) *cobra.Command {
	opts := sessionsImportOptions{app: a}
	cmd := &cobra.Command{
		Use:   "import [RUN|PATH]",
		Short: "Rebuild the agents ledger from transcripts",
		Long: `Rebuild the agents ledger from transcripts: of all runs, of one RUN, or of the
attempts at a PATH below runs/. It replaces the rows of these attempts.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.what = args[0]
			}
			return runSessionsImport(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runSessionsImport(ctx context.Context, opts sessionsImportOptions) error {
	p, pl, err := opts.app.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	o := project.SessionOptions(p, pl)
	if strings.ContainsAny(opts.what, `/\`) { // else it is a run
		opts.what = opts.app.Path(opts.what)
	}
	done, err := sessionkeeper.Import(ctx, o, opts.what)
	for _, path := range done.Aside {
		fmt.Fprintf(opts.app.Err, "relay: warning: the agents ledger was damaged; it is kept as %s\n", p.Rel(path))
	}
	if err != nil {
		return importHint(err)
	}
	if opts.json {
		return opts.app.PrintJSON(done)
	}
	if done.Gone > 0 {
		fmt.Fprintf(opts.app.Err, "relay: note: %s without a transcript any more: the rows of before stay\n", plaintext.Count(done.Gone, "attempt"))
	}
	fmt.Fprintf(opts.app.Out, "%s of %s, %s, %s\n", plaintext.Count(int(done.Sessions), "session"), plaintext.Count(done.Attempts, "attempt"),
		plaintext.Count(int(done.Messages), "message"), plaintext.Count(int(done.Calls), "tool call"))
	return opts.app.Out.Failure()
}

// importHint adds what to do about an error.
func importHint(err error) error {
	var hint string
	switch {
	case errors.Is(err, sessionkeeper.ErrNoAttempt):
		hint = "name a run by its folder in runs/, or a path below that"
	case errors.Is(err, sessions.ErrForeign):
		hint = "move that file away, and type relay sessions import"
	case errors.Is(err, sessions.ErrNewer):
		hint = "use that relay, or move the file away and type relay sessions import"
	case errors.Is(err, sessions.ErrFull):
		hint = "make room on that disk, then type the command again: nothing is lost"
	default:
		return err
	}
	return &terminal.Hinted{Err: err, Hint: hint}
}

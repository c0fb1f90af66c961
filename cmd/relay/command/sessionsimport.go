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

func newSessionsImportCommand(a *cli.App) *cobra.Command {
	return printing(&cobra.Command{
		Use:   "import [RUN|PATH]",
		Short: "Rebuild the agents ledger from transcripts",
		Long: `Rebuild the agents ledger from transcripts: of all runs, of one RUN, or of the
attempts at a PATH below runs/. It replaces the rows of these attempts.`,
		Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		return runSessionsImport(cmd.Context(), a, append(args, "")[0], asJSON)
	})
}

// runSessionsImport imports the transcripts of a run, or at a path; of all runs with "".
func runSessionsImport(ctx context.Context, a *cli.App, what string, asJSON bool) error {
	p, pl, err := a.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	if strings.ContainsAny(what, `/\`) { // else it is a run
		what = a.Path(what)
	}
	done, err := sessionkeeper.Import(ctx, project.SessionOptions(p, pl), what)
	for _, path := range done.Aside {
		a.Warn("the agents ledger was damaged; it is kept as " + p.Rel(path))
	}
	if err != nil {
		return importHint(err)
	}
	if asJSON {
		return a.PrintJSON(done)
	}
	if done.Gone > 0 {
		fmt.Fprintf(a.Err, "relay: note: %s without a transcript any more: the rows of before stay\n", plaintext.Count(done.Gone, "attempt"))
	}
	fmt.Fprintf(a.Out, "%s of %s, %s, %s\n", plaintext.Count(int(done.Sessions), "session"), plaintext.Count(done.Attempts, "attempt"),
		plaintext.Count(int(done.Messages), "message"), plaintext.Count(int(done.Calls), "tool call"))
	return a.Out.Failure()
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

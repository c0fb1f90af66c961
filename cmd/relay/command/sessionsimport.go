package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/sessionkeeper"
	"relay/runners/kinds"
)

func newSessionsImportCommand(a *cli.App) *cobra.Command {
	var from string
	cmd := printing(&cobra.Command{
		Use:   "import [RUN|PATH]",
		Short: "Rebuild the agents ledger, or add your own sessions",
		Long: `Rebuild the agents ledger from transcripts: of all runs, of one RUN, or of the
attempts at a PATH below runs/. It replaces the rows of these attempts.

With --from, import the sessions that claude, codex, gemini, opencode or cursor
keeps itself: those that worked in this repository, or all in the file or folder
PATH. relay only reads these files. Repeat it to bring the rows up to date.`,
		Example: `  relay sessions import
  relay sessions import --from claude
  relay sessions import --from cursor backup/state.vscdb`,
		Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		return runSessionsImport(cmd.Context(), a, from, optional(args), asJSON)
	})
	cmd.Flags().StringVar(&from, "from", "", "the `PROGRAM` whose own sessions are imported")
	return cmd
}

// runSessionsImport imports the transcripts of a run, or at a path; of all runs with "". It imports the sessions of the program from, if
// that is named.
func runSessionsImport(ctx context.Context, a *cli.App, from, what string, asJSON bool) error {
	if _, err := kinds.OwnSessions(from); from != "" && err != nil {
		return &terminal.UsageError{Message: err.Error(), Hint: "relay sessions import --help"}
	}
	p, pl, err := a.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	if strings.ContainsAny(what, `/\`) || from != "" && what != "" { // else it is a run
		what = a.Path(what)
	}
	var done sessionkeeper.Imported
	if from == "" {
		done, err = sessionkeeper.Import(ctx, project.SessionOptions(p, pl), what)
	} else {
		done, err = sessionkeeper.ImportOwn(ctx, project.SessionOptions(p, pl), sessionkeeper.Own{
			From: from, Path: what, Env: a.Environ, Clean: p.Redactor().Text,
		})
	}
	for _, path := range done.Aside {
		a.Warn("the agents ledger was damaged; it is kept as " + p.Rel(path))
	}
	if err != nil {
		return agentlog.Hinted(err)
	}
	for _, text := range done.Unread {
		a.Warn(text)
	}
	if asJSON {
		return a.PrintJSON(done)
	}
	if done.Gone > 0 {
		fmt.Fprintf(a.Err, "relay: note: %s without a transcript any more: the rows of before stay\n", plaintext.Count(done.Gone, "attempt"))
	}
	for _, why := range slices.Sorted(maps.Keys(done.LeftOut)) {
		fmt.Fprintf(a.Err, "relay: note: left out %s: %s\n", plaintext.Count(done.LeftOut[why], "session"), why)
	}
	of := " of " + plaintext.Count(done.Attempts, "attempt")
	if from != "" {
		of = ""
	}
	fmt.Fprintf(a.Out, "%s%s, %s, %s\n", plaintext.Count(int(done.Sessions), "session"), of,
		plaintext.Count(int(done.Messages), "message"), plaintext.Count(int(done.Calls), "tool call"))
	return a.Out.Failure()
}

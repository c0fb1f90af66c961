package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/sessionkeeper"
	"relay/orchestrator/text"
)

type sessionsImportOptions struct {
	app  *cli.App
	what string // a run or a path; "": everything
	from string // a CLI
	json bool
}

func newSessionsImportCommand(a *cli.App) *cobra.Command {
	opts := sessionsImportOptions{app: a}
	cmd := &cobra.Command{
		Use:   "import [RUN|PATH] [--from CLI]",
		Short: "Rebuild the agents ledger from transcripts",
		Long: `Rebuild the agents ledger from transcripts: of all runs, of one RUN, or of the
attempts at a PATH below runs/. It replaces the rows of these attempts.

With --from it reads the files in which a CLI itself keeps its sessions, at the
PATH and below it, and changes nothing there.`,
		Example: "  relay sessions import\n  relay sessions import --from claude ~/.claude/projects/shop",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.what = args[0]
			}
			return runSessionsImport(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.from, "from", "", "read what a `CLI` keeps itself: "+strings.Join(sessionkeeper.KeptKinds(), ", "))
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runSessionsImport(ctx context.Context, opts sessionsImportOptions) error {
	switch {
	case opts.from != "" && !slices.Contains(sessionkeeper.KeptKinds(), opts.from):
		return &exit.UsageError{
			Message: "relay knows no files of " + terminal.Quote(opts.from),
			Hint:    "use --from " + strings.Join(sessionkeeper.KeptKinds(), " or --from "),
		}
	case opts.from != "" && opts.what == "":
		return &exit.UsageError{
			Message: "a path is missing: relay looks nowhere by itself", Hint: "name a file or folder: relay sessions import --from " + opts.from + " PATH",
		}
	}
	p, pl, err := opts.app.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	o := project.SessionOptions(p, pl)
	var done sessionkeeper.Imported
	if opts.from != "" {
		done, err = sessionkeeper.ImportKept(ctx, o, opts.from, opts.app.Path(opts.what))
	} else {
		if strings.ContainsAny(opts.what, `/\`) { // else it is a run
			opts.what = opts.app.Path(opts.what)
		}
		done, err = sessionkeeper.Import(ctx, o, opts.what)
	}
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
		fmt.Fprintf(opts.app.Err, "relay: note: %s without a transcript any more: the rows of before stay\n", text.Count(done.Gone, "attempt"))
	}
	of := ""
	if opts.from == "" {
		of = " of " + text.Count(done.Attempts, "attempt")
	}
	fmt.Fprintf(opts.app.Out, "%s%s, %s, %s\n", text.Count(int(done.Sessions), "session"), of,
		text.Count(int(done.Messages), "message"), text.Count(int(done.Calls), "tool call"))
	return opts.app.Out.Failure()
}

// importHint adds what to do about an error.
func importHint(err error) error {
	var hint string
	switch {
	case errors.Is(err, sessionkeeper.ErrNoAttempt):
		hint = "name a run by its folder in runs/, or a path below that"
	case errors.Is(err, sessionkeeper.ErrNothingKept), errors.Is(err, fs.ErrNotExist):
		hint = "name a file in which the CLI keeps a session, or a folder with such files"
	case errors.Is(err, sessions.ErrForeign):
		hint = "move that file away, and type relay sessions import"
	case errors.Is(err, sessions.ErrNewer):
		hint = "use that relay, or move the file away and type relay sessions import"
	case errors.Is(err, sessions.ErrFull):
		hint = "make room on that disk, then type the command again: nothing is lost"
	default:
		return err
	}
	return &exit.Hinted{Err: err, Hint: hint}
}

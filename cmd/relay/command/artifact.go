package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"relay/attempts/artifact"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/recorded"
	"relay/cmd/relay/internal/terminal"
)

func newArtifactCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "artifact",
		Short: "Read and write checkpoints, handoffs and final reports of sessions",
		Long: `List, show, check and write the artifacts below thoughts/shared/handoffs, in
which a session says what its goal was, where it stands, and what comes next.
They have the format of Continuous Claude; both can write them.`,
	}
	cmd.AddCommand(newArtifactListCommand(a), newArtifactShowCommand(a),
		newArtifactValidateCommand(a), newArtifactNewCommand(a), newArtifactImportCommand(a))
	return cmd
}

func newArtifactListCommand(a *cli.App) *cobra.Command {
	return showing(a, &cobra.Command{Use: "list", Short: "List artifacts, oldest first"}, recorded.ListArtifacts)
}

func newArtifactShowCommand(a *cli.App) *cobra.Command {
	return printing(&cobra.Command{
		Use:   "show FILE",
		Short: "Print an artifact",
		Args:  cobra.ExactArgs(1),
	}, func(_ *cobra.Command, args []string, asJSON bool) error {
		return recorded.ShowArtifact(a, args[0], asJSON)
	})
}

func newArtifactValidateCommand(a *cli.App) *cobra.Command {
	cmd := printing(&cobra.Command{
		Use:   "validate FILE...",
		Short: "Check artifacts",
		Long: `Check artifacts. relay warns of valid fields that some readers get wrong. Exit
code 1 when a file is not a valid artifact.`,
		Example: "  relay artifact validate thoughts/shared/handoffs/*/*.yaml",
		Args:    cobra.ArbitraryArgs,
	}, func(_ *cobra.Command, args []string, asJSON bool) error {
		if len(args) == 0 {
			return &terminal.UsageError{Message: "no file is named", Hint: "relay artifact validate thoughts/shared/handoffs/*/*.yaml"}
		}
		return recorded.ValidateArtifacts(a, args, asJSON)
	})
	return withSchema(cmd, "print the JSON Schema of an artifact, and check nothing", func() error {
		_, err := fmt.Fprintf(a.Out, "%s", artifact.Schema())
		return err
	})
}

func newArtifactNewCommand(a *cli.App) *cobra.Command {
	var opts recorded.NewOptions
	cmd := &cobra.Command{
		Use:   "new MODE",
		Short: "Write an artifact",
		Long: `Write an artifact: a checkpoint, a handoff or a finalize. Date, branch and
commit are filled in. --json reads all fields that a mode has; flags replace
them. A folder thoughts that is made for it is ignored by git.`,
		Example: `  relay artifact new checkpoint --goal "Users log in" --now "Logout is missing"
  relay artifact new handoff --bead T-12 --goal "Users log in" --now Logout
  relay artifact new finalize --json fields.json`,
		Args: cobra.ExactArgs(1),
		RunE: located(a.Repository, func(ctx context.Context, p *project.Project, args []string) error {
			return recorded.NewArtifact(ctx, a, p, args[0], opts)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&opts.JSON, "json", "", "read the fields of the artifact from `FILE`, JSON or YAML; - is stdin")
	f.StringVar(&opts.Goal, "goal", "", "`TEXT`: what is to be reached")
	f.StringVar(&opts.Now, "now", "", "`TEXT`: what stands next")
	f.StringVar(&opts.Outcome, "outcome", "", "`OUTCOME` of the session: "+recorded.OutcomeNames()+"; by default PARTIAL_PLUS, and SUCCEEDED of a finalize")
	f.StringVar(&opts.Session, "session", "", "`NAME` of the session and its folder; by default the bead, else the folder of the repository")
	f.StringVar(&opts.Bead, "bead", "", "`ID` of what the work is about; handoff and finalize need it")
	f.StringArrayVar(&opts.Next, "next", nil, "`TEXT`: a next step; may be given several times")
	return cmd
}

func newArtifactImportCommand(a *cli.App) *cobra.Command {
	var opts recorded.ImportOptions
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Make artifacts of older handoffs and checkpoints",
		Long: `Make artifacts of files like .handoff/*.md and .checkpoint/*.md. The files stay.
relay keeps fields that artifacts lack as metadata.`,
		Example: "  relay artifact import .handoff/2026-01-13.md --outcome PARTIAL_PLUS",
		Args:    cobra.MinimumNArgs(1),
		RunE: located(a.Repository, func(_ context.Context, p *project.Project, args []string) error {
			return recorded.ImportArtifacts(a, p, args, opts)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&opts.Outcome, "outcome", "", "`OUTCOME` of the session, whatever the file says: "+recorded.OutcomeNames())
	f.StringVar(&opts.Session, "session", "", "`NAME` of the session and its folder; by default as in the file, else its bead, else the file's name")
	f.StringVar(&opts.Bead, "bead", "", "`ID` of what the work was about; by default as in the file")
	return cmd
}

package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/recorded"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
)

func newDiscussCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "discuss",
		Short: "Record open questions, positions and decisions",
		Long: `Record discussions below .ledger/entries: what is still open, who takes which
position and why, and how it went on. relay only adds to entries.
An id may be shortened while it is clear, to its beginning or that of its topic.`,
	}
	cmd.AddCommand(newDiscussAppendCommand(a), newDiscussLinkCommand(a), newDiscussMarkCommand(a),
		newDiscussListing(a, discussion.ActionList, "list", "List all discussions, oldest first"),
		newDiscussListing(a, discussion.ActionOpen, "open", "List open discussions, oldest first"), newDiscussReplayCommand(a))
	return cmd
}

// discuss does an action, and prints what came of it.
func discuss(cmd *cobra.Command, a *cli.App, action string, in discussion.Input, asJSON bool) error {
	_, err := recorded.Discuss(cmd.Context(), a, action, in, asJSON)
	return err
}

func newDiscussAppendCommand(a *cli.App) *cobra.Command {
	var opts recorded.DiscussionOptions
	cmd := &cobra.Command{
		Use:   "append",
		Short: "Record a new discussion",
		Long: `Record a new discussion. Its summary tells what was said, for all sides alike,
and decides nothing. A folder .ledger that is made for it is ignored by git.`,
		Example: `  relay discuss append --topic "Split the docs?" --summary "They grow." \
    --position "ada: Split them: short pages are read"
  relay discuss append --json discussion.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return recorded.AppendDiscussion(cmd.Context(), a, &opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.Topic, "topic", "", "`TEXT`: what is discussed, in one line")
	f.StringVar(&opts.Summary, "summary", "", "`TEXT`: what was said so far, without a decision")
	f.StringArrayVar(&opts.Positions, "position", nil, "`BY: STANCE: RATIONALE`: who holds what, and why; may be given several times")
	f.StringVar((*string)(&opts.Status), "status", string(discussion.Exploring), "`STATUS`: exploring, tentative or unresolved")
	f.StringArrayVar(&opts.Related, "related", nil, "`ID` of an earlier discussion; may be given several times")
	f.StringVar(&opts.JSON, "json", "", "read the discussion from `FILE`, - for stdin, in place of flags, and print JSON")
	return withSchema(cmd, "print the JSON Schema of a discussion, and record nothing", func() error {
		return recorded.ActionSchema(a, discussion.ActionAppend)
	})
}

func newDiscussLinkCommand(a *cli.App) *cobra.Command {
	var to []string
	var relation string
	cmd := printing(&cobra.Command{
		Use:     "link ID",
		Short:   "Link a discussion to earlier ones",
		Example: "  relay discuss link 2026-01-25_split --to 2026-01-20_skills --relation extends",
		Args:    cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		if len(to) == 0 || relation == "" {
			return &terminal.UsageError{Message: "a link says to which discussion, and how they relate", Hint: "relay discuss link ID --to ID --relation extends"}
		}
		in := discussion.Input{Current: args[0]}
		in.LinkTo = each.Of(to, func(id string) discussion.Related { return discussion.Related{ID: id, Relation: relation} })
		return discuss(cmd, a, discussion.ActionLink, in, asJSON)
	})
	cmd.Flags().StringArrayVar(&to, "to", nil, "`ID` of an earlier discussion; may be given several times")
	cmd.Flags().StringVar(&relation, "relation", "", "`TEXT`: how they relate, as extends, contradicts or supplements")
	return cmd
}

func newDiscussMarkCommand(a *cli.App) *cobra.Command {
	var in discussion.Input
	cmd := printing(&cobra.Command{
		Use:   "mark ID STATUS",
		Short: "Set the status of a discussion",
		Long: `Set the status of a discussion: exploring, tentative, accepted, deprecated or
revived. It is added to its history; the same status again may carry a note.
A note of yours on a discussion that relay opened about a task also answers the
task, as relay answer does.`,
		Example: `  relay discuss mark split accepted --note "Done in 1.4"`,
		Args:    cobra.ExactArgs(2),
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		in.ID, in.NewStatus = args[0], discussion.Status(args[1])
		return markDiscussion(cmd.Context(), a, in, asJSON)
	})
	cmd.Flags().StringVar(&in.Note, "note", "", "`TEXT` that goes with the change")
	return cmd
}

// markDiscussion sets the status of a discussion. A person's note on one that relay opened about a task of this epic answers the task.
func markDiscussion(ctx context.Context, a *cli.App, in discussion.Input, asJSON bool) error {
	marked, err := recorded.Discuss(ctx, a, discussion.ActionMark, in, asJSON)
	if err != nil || marked.Origin == "" || strings.TrimSpace(in.Note) == "" || cli.InRun(a) {
		return err
	}
	p, pl, err := a.PlannedAnyhow(ctx)
	of := strings.Split(marked.Origin, "/")
	if err != nil || len(of) < 2 || of[0] != pl.Epic.ID {
		return nil //nolint:nilerr // the epic is gone, or another one
	}
	if _, err := pl.Task(of[1]); err != nil {
		return nil //nolint:nilerr // the discussion is about the whole epic, or a task that left the plan
	}
	said := session.Decision{App: a, Task: of[1], Reason: strings.TrimSpace(in.Note)}
	done, err := said.Make(ctx, p, pl, attempts.RequestAnswer, session.Answer)
	if err != nil || asJSON {
		return err
	}
	return cli.Print(a, false, nil, done.Message)
}

// newDiscussListing returns a command that does an action which lists discussions.
func newDiscussListing(a *cli.App, action, use, short string) *cobra.Command {
	return printing(&cobra.Command{Use: use, Short: short}, func(cmd *cobra.Command, _ []string, asJSON bool) error {
		return discuss(cmd, a, action, discussion.Input{}, asJSON)
	})
}

func newDiscussReplayCommand(a *cli.App) *cobra.Command {
	return printing(&cobra.Command{
		Use:   "replay ID",
		Short: "Print the history of a discussion",
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		return discuss(cmd, a, discussion.ActionReplay, discussion.Input{ID: args[0]}, asJSON)
	})
}

package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/attempts/sessions"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

type cleanOptions struct {
	app       *cli.App
	yes       bool
	dryRun    bool
	json      bool
	sessions  bool
	all       bool
	olderThan string
}

func newCleanCommand(a *cli.App) *cobra.Command {
	opts := cleanOptions{app: a}
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove worktrees and branches left by ended runs",
		Long: `List what ended runs have left, and remove it after confirmation: worktrees,
branches of tasks that have landed or whose work is kept elsewhere, copies of
.git, and worktrees of a killed relay plan, relay init --planner or relay
sessions fork. relay keeps files that exist nowhere else, and says how to look
at them. The ledger, the logs and the work stay: the branch relay/EPIC (git
branch -D removes it) and the work of failed attempts below refs/relay/EPIC
(git for-each-ref lists it, git update-ref -d removes it).

With --all it lists the worktrees of every repository with their sizes, and
removes those of repositories that no longer exist.

With --sessions it removes the transcripts of old runs and their rows in the
agents ledger. The epic's ledger, receipts, checks, reviews and patches stay.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case opts.all:
				return runCleanAll(opts)
			case opts.sessions:
				return runCleanSessions(cmd.Context(), opts)
			case cmd.Flags().Changed("older-than"):
				return &terminal.UsageError{Message: "--older-than goes with --sessions"}
			}
			return runClean(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&opts.yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&opts.dryRun, "dry-run", false, "list what would be removed, and remove nothing")
	f.BoolVar(&opts.all, "all", false, "list the worktrees of all repositories, and remove those whose repository is gone")
	f.BoolVar(&opts.sessions, "sessions", false, "remove what agents printed in old runs instead")
	f.StringVar(&opts.olderThan, "older-than", "30d", "with --sessions: of runs that began at least this `AGE` ago, such as 12h, 30d or 8w")
	f.BoolVar(&opts.json, "json", false, "print JSON; needs --yes or --dry-run")
	cmd.MarkFlagsMutuallyExclusive("all", "sessions")
	return cmd
}

// cleaned is what relay clean --json prints.
type cleaned struct {
	Version int           `json:"version"`
	DryRun  bool          `json:"dry_run"`
	Removed []leftover    `json:"removed"` // or would be, with DryRun
	Kept    []keptRemains `json:"kept"`
}

type leftover struct {
	Kind finish.LeftoverKind `json:"kind"`
	Name string              `json:"name"`
}

// keptRemains is something that stays, with the reason and a command that shows what would be lost.
type keptRemains struct {
	leftover
	Why  string `json:"why"`
	Show string `json:"look,omitempty"`
}

func runClean(ctx context.Context, opts cleanOptions) (err error) {
	p, err := opts.app.Locate(ctx, nil)
	if err != nil {
		return err
	}
	release, err := opts.hold(p)
	if err != nil {
		return err
	}
	defer release()
	var open relayfiles.Open
	if pl, v := epicThere(p); v != nil {
		opts.app.WarnKilled(v)
		open = relayfiles.OpenOf(p.Dir, pl.Epic.ID, v.Ledger)
	}
	finder := finish.Remains{
		Git: p.Git, Dir: p.Dir, Worktrees: p.Worktrees().Dir, Below: p.File(project.BelowName), Backup: project.BackupDir(p),
	}
	found, err := finder.List(ctx)
	if err != nil {
		return err
	}
	open.Keep(found, finder.Worktrees)
	answer := cleaned{Version: 1, DryRun: opts.dryRun, Removed: []leftover{}, Kept: []keptRemains{}}
	var going []finish.Leftover
	for _, l := range found {
		if l.Why == "" {
			going = append(going, l)
			continue
		}
		answer.Kept = append(answer.Kept, keptRemains{leftover{l.Kind, p.Rel(l.Name)}, l.Why, l.Show})
	}
	if !opts.json {
		opts.list(p, going, answer.Kept)
	}
	sure, err := opts.sure(len(going))
	if err != nil {
		return err
	}
	for _, l := range going {
		gone := leftover{l.Kind, p.Rel(l.Name)}
		if sure && !opts.remove(ctx, finder, l, &answer) {
			continue
		}
		answer.Removed = append(answer.Removed, gone)
	}
	return opts.finish(answer, sure, len(answer.Removed), "removed "+plaintext.Count(len(answer.Removed), "item"))
}

// epicThere returns the epic with its ledger; nil when there is none any more.
func epicThere(p *project.Project) (*project.Plan, *attempts.View) {
	pl, err := p.Plan()
	if err != nil {
		return nil, nil
	}
	v, err := p.View(pl)
	if err != nil {
		return nil, nil
	}
	return pl, v
}

// hold sees to it that no run of the epic begins until release is called.
func (o cleanOptions) hold(p *project.Project) (release func(), err error) {
	if !project.Exists(p.Dir) {
		return func() {}, nil
	}
	lock, err := attempts.Hold(p.File(attempts.LockFile), attempts.Self("", o.app.Now()))
	if held, ok := errors.AsType[*attempts.HeldError](err); ok {
		held.Path = "" // it is the epic's own lock, as in every other command
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Release() }, nil // the end of this process does it too
}

// remove removes one thing, unless it must stay by now.
func (o cleanOptions) remove(ctx context.Context, finder finish.Remains, l finish.Leftover, answer *cleaned) bool {
	err := finder.Remove(ctx, l)
	if err == nil {
		return true
	}
	name := project.Rel(finder.Git.Root(), l.Name)
	answer.Kept = append(answer.Kept, keptRemains{leftover{l.Kind, name}, terminal.Message(err), l.Show})
	fmt.Fprintf(o.app.Err, "relay: warning: %s %s stays: %v\n", l.Kind, name, err)
	return false
}

// list says what can be removed, and what cannot.
func (o cleanOptions) list(p *project.Project, going []finish.Leftover, kept []keptRemains) {
	if len(going)+len(kept) == 0 {
		fmt.Fprintln(o.app.Out, "nothing to remove: ended runs left no worktree, task branch or copy of .git")
	}
	for _, l := range going {
		fmt.Fprintf(o.app.Out, "%-9s %s\n", l.Kind, p.Rel(l.Name))
	}
	for i, k := range kept {
		if i == 0 {
			fmt.Fprintln(o.app.Out, "kept:")
		}
		fmt.Fprintf(o.app.Out, "%-9s %s: %s\n          look: %s\n", k.Kind, k.Name, k.Why, k.Show)
	}
	if len(kept) > 0 {
		fmt.Fprintln(o.app.Out, "to remove what you do not need: rm -r WORKTREE or COPY, git branch -D BRANCH")
	}
}

// sure reports whether to remove so many things.
func (o cleanOptions) sure(n int) (bool, error) {
	if n == 0 || o.dryRun {
		return false, nil
	}
	return o.app.Sure(o.yes, o.json, "remove "+plaintext.Count(n, "item"), "pass --yes to remove them, or --dry-run to list them")
}

// finish prints the answer as JSON, or whether so many things were removed; done says that they were.
func (o cleanOptions) finish(answer any, sure bool, n int, done string) error {
	switch {
	case o.json:
		return o.app.PrintJSON(answer)
	case sure:
		fmt.Fprintln(o.app.Out, done)
	case n > 0 && !o.dryRun:
		fmt.Fprintln(o.app.Out, "nothing has been removed")
	}
	return nil
}

// cleanedSessions is what relay clean --sessions --json prints.
type cleanedSessions struct {
	Version int              `json:"version"`
	DryRun  bool             `json:"dry_run"`
	Removed []cleanedRun     `json:"removed"` // or would be, with DryRun
	Kept    []keptTranscript `json:"kept"`
	Bytes   int64            `json:"bytes"`    // freed
	Rows    int              `json:"sessions"` // taken out of the agents ledger
}

// cleanedRun is a run whose transcripts are removed.
type cleanedRun struct {
	Run   string `json:"run"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// keptTranscript is an old run whose transcripts stay.
type keptTranscript struct {
	Run string `json:"run"`
	Why string `json:"why"`
}

// runCleanSessions removes the transcripts of old runs of the epic.
func runCleanSessions(ctx context.Context, opts cleanOptions) error {
	age, err := cli.ParseAge(opts.olderThan)
	if err != nil {
		return err
	}
	p, err := opts.app.Locate(ctx, nil)
	if err != nil {
		return err
	}
	release, err := opts.hold(p)
	if err != nil {
		return err
	}
	defer release()
	runs, err := relayfiles.RunFolders(p.File(attempts.RunsDir))
	if err != nil {
		return err
	}
	open, err := opts.openRuns(p)
	if err != nil {
		return err
	}
	answer := cleanedSessions{Version: 1, DryRun: opts.dryRun, Removed: []cleanedRun{}}
	going, kept := chooseRuns(runs, open, opts.app.Now().Add(-age))
	answer.Kept = kept
	if !opts.json {
		opts.listSessions(going, answer.Kept)
	}
	sure, err := opts.sure(len(going))
	if err != nil {
		return err
	}
	var failed error
	for _, r := range going {
		if sure {
			if err := r.Remove(); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		answer.Removed = append(answer.Removed, cleanedRun{r.ID, len(r.Files), r.Bytes})
		answer.Bytes += r.Bytes
	}
	if sure {
		var err error
		answer.Rows, err = forgetRuns(ctx, p, answer.Removed)
		failed = errors.Join(failed, err)
	}
	return errors.Join(opts.printSessions(answer, sure), failed)
}

// chooseRuns returns which of the runs that began before a time lose their transcripts. open says why those of others stay.
func chooseRuns(
	runs []relayfiles.RunFolder, open map[string]string, before time.Time,
) (going []relayfiles.RunFolder, kept []keptTranscript) {
	kept = []keptTranscript{}
	for _, r := range runs {
		switch {
		case r.Began.IsZero() || r.Began.After(before):
		case open[r.ID] != "":
			kept = append(kept, keptTranscript{r.ID, open[r.ID]})
		default:
			going = append(going, r)
		}
	}
	return going, kept
}

// forgetRuns takes the sessions of runs out of the agents ledger, if there is one, and returns how many.
func forgetRuns(ctx context.Context, p *project.Project, runs []cleanedRun) (n int, err error) {
	var ids []string
	reader, err := sessions.OpenReadOnly(ctx, p.Dir)
	if errors.Is(err, sessions.ErrMissing) || len(runs) == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, r := range runs {
		list, failed := reader.List(ctx, sessions.Filter{Run: r.Run})
		err = errors.Join(err, failed)
		for i := range list {
			ids = append(ids, list[i].ID)
		}
	}
	if err = errors.Join(err, reader.Close()); err != nil || len(ids) == 0 {
		return 0, err
	}
	db, err := sessions.Open(ctx, p.Dir, sessions.Options{Now: time.Now})
	if err != nil {
		return 0, err
	}
	err = db.Forget(ctx, ids...)
	if err == nil {
		n, err = len(ids), db.Shrink(ctx)
	}
	return n, errors.Join(err, db.Close())
}

// openRuns says in words why transcripts of runs stay: attempts that the next run goes on with, plans and forks that are at work.
func (o cleanOptions) openRuns(p *project.Project) (map[string]string, error) {
	open, err := finish.RunsAtWork(p.Worktrees().Dir, p.File(attempts.RunsDir))
	if err != nil {
		return nil, err
	}
	_, v := epicThere(p)
	if v == nil {
		return open, nil
	}
	for _, rec := range v.Ledger.Tasks {
		if a := rec.Running(); a != nil {
			open[a.Run] = "an attempt of it is still open; relay work brings it to its end"
		}
	}
	return open, nil
}

func (o cleanOptions) listSessions(going []relayfiles.RunFolder, kept []keptTranscript) {
	if len(going)+len(kept) == 0 {
		fmt.Fprintln(o.app.Out, "no run that began "+o.olderThan+" ago or earlier has transcripts")
	}
	for _, r := range going {
		fmt.Fprintf(o.app.Out, "run %s  %s, %s\n", r.ID, plaintext.Count(len(r.Files), "file"), plaintext.Bytes(uint64(r.Bytes)))
	}
	for _, k := range kept {
		fmt.Fprintf(o.app.Out, "kept: run %s: %s\n", k.Run, k.Why)
	}
}

func (o cleanOptions) printSessions(answer cleanedSessions, sure bool) error {
	n, freed := len(answer.Removed), plaintext.Bytes(uint64(answer.Bytes))
	if o.dryRun && n > 0 && !o.json {
		fmt.Fprintf(o.app.Out, "this would free %s\n", freed)
	}
	done := "removed the transcripts of " + plaintext.Count(n, "run") + ", " + freed
	if answer.Rows > 0 {
		done += "\ntaken out of the agents ledger: " + plaintext.Count(answer.Rows, "session")
	}
	return o.finish(answer, sure, n, done)
}

// cleanedAll is what relay clean --all --json prints.
type cleanedAll struct {
	Version int           `json:"version"`
	DryRun  bool          `json:"dry_run"`
	Removed []slot.Folder `json:"removed"` // or would be, with DryRun: their repositories are gone
	Kept    []slot.Folder `json:"kept"`
}

// runCleanAll lists the worktrees, and removes those of repositories that are not there any more.
func runCleanAll(opts cleanOptions) error {
	state := project.StateDir(opts.app.Environ)
	if state == "" {
		return errors.New("relay has no folder for state: HOME and XDG_STATE_HOME are not set")
	}
	list, err := slot.Folders(filepath.Join(state, "worktrees"))
	if err != nil {
		return err
	}
	answer := cleanedAll{Version: 1, DryRun: opts.dryRun, Removed: []slot.Folder{}, Kept: []slot.Folder{}}
	for _, f := range list {
		whose := "of " + plaintext.FirstOf(f.Repository, "no repository") + "; relay clean there removes what it does not need"
		if f.Gone {
			answer.Removed, whose = append(answer.Removed, f), "of "+f.Repository+", which is not there any more"
		} else {
			answer.Kept = append(answer.Kept, f)
		}
		if !opts.json {
			fmt.Fprintf(opts.app.Out, "%s: %s, %s, %s\n", f.Path, plaintext.Count(f.Slots, "worktree"), plaintext.Bytes(uint64(f.Bytes)), whose)
		}
	}
	if len(list) == 0 && !opts.json {
		fmt.Fprintln(opts.app.Out, "there are no worktrees in "+filepath.Join(state, "worktrees"))
	}
	sure, err := opts.sure(len(answer.Removed))
	if sure {
		for _, f := range answer.Removed {
			err = errors.Join(err, git.RemoveTree(f.Path))
		}
	}
	if err != nil {
		return err
	}
	return opts.finish(answer, sure, len(answer.Removed), "removed "+plaintext.Count(len(answer.Removed), "folder"))
}

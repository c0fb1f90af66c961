package landing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// Clean removes what ended runs have left, as the flags of relay clean say.
type Clean struct {
	App       *cli.App
	Yes       bool
	DryRun    bool
	JSON      bool
	OlderThan string
}

// cleaned is what relay clean --json prints: leftovers with names as seen from the repository, or folders of repositories.
type cleaned[T finish.Leftover | slot.Folder] struct {
	Version int  `json:"version"`
	DryRun  bool `json:"dry_run"`
	Removed []T  `json:"removed"` // or would be, with DryRun
	Kept    []T  `json:"kept"`
}

// ended is a project of which no run begins until release is called.
type ended struct {
	*project.Project

	plan    *project.Plan
	view    *attempts.View // nil: the epic is gone
	release func()
}

// begin finds the project, and holds it.
func (o Clean) begin(ctx context.Context) (*ended, error) {
	p, err := o.App.Locate(ctx, nil)
	if err != nil {
		return nil, err
	}
	e := &ended{Project: p, release: func() {}}
	if git.Exists(p.Dir) {
		lock, err := attempts.Hold(p.File(attempts.LockFile), attempts.Self("", o.App.Now()))
		if held, ok := errors.AsType[*attempts.HeldError](err); ok {
			held.Path = "" // it is the epic's own lock, as in every other command
		}
		if err != nil {
			return nil, err
		}
		e.release = func() { _ = lock.Release() } // the end of this process does it too
	}
	if e.plan, err = p.Plan(); err == nil {
		e.view, _ = p.View(e.plan)
	}
	return e, nil
}

// Remains removes the worktrees, branches and copies of .git that ended runs have left.
func (o Clean) Remains(ctx context.Context) error {
	p, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer p.release()
	finder := finish.Remains{
		Git: p.Git, Dir: p.Dir, Worktrees: p.Worktrees().Dir, Below: p.File(project.BelowName), Backup: project.BackupDir(p.Project),
	}
	found, err := finder.List(ctx)
	if err != nil {
		return err
	}
	if p.view != nil {
		o.App.WarnKilled(p.view)
		relayfiles.OpenOf(p.Dir, p.plan.Epic.ID, p.view.Ledger).Keep(found, finder.Worktrees)
	}
	answer := cleaned[finish.Leftover]{Version: 1, DryRun: o.DryRun, Removed: []finish.Leftover{}, Kept: []finish.Leftover{}}
	var going []finish.Leftover
	for _, l := range found {
		if l.Why == "" {
			going = append(going, l)
			continue
		}
		l.Name = p.Rel(l.Name)
		answer.Kept = append(answer.Kept, l)
	}
	if !o.JSON {
		o.list(p.Project, going, answer.Kept)
	}
	sure, err := o.sure(len(going))
	if err != nil {
		return err
	}
	for _, l := range going {
		if !sure || o.remove(ctx, finder, l, &answer) {
			answer.Removed = append(answer.Removed, finish.Leftover{Kind: l.Kind, Name: p.Rel(l.Name)})
		}
	}
	return o.finish(answer, sure, len(answer.Removed), "removed "+plaintext.Count(len(answer.Removed), "item"))
}

// remove removes one thing, unless it must stay by now.
func (o Clean) remove(ctx context.Context, finder finish.Remains, l finish.Leftover, answer *cleaned[finish.Leftover]) bool {
	err := finder.Remove(ctx, l)
	if err == nil {
		return true
	}
	l.Name, l.Why = plaintext.Relative(finder.Git.Root(), l.Name), terminal.Message(err)
	answer.Kept = append(answer.Kept, l)
	fmt.Fprintf(o.App.Err, "relay: warning: %s %s stays: %v\n", l.Kind, l.Name, err)
	return false
}

// list says what can be removed, and what cannot.
func (o Clean) list(p *project.Project, going []finish.Leftover, kept []finish.Leftover) {
	if len(going)+len(kept) == 0 {
		fmt.Fprintln(o.App.Out, "nothing to remove: ended runs left no worktree, task branch or copy of .git")
	}
	for _, l := range going {
		fmt.Fprintf(o.App.Out, "%-9s %s\n", l.Kind, p.Rel(l.Name))
	}
	for i, k := range kept {
		if i == 0 {
			fmt.Fprintln(o.App.Out, "kept:")
		}
		fmt.Fprintf(o.App.Out, "%-9s %s: %s\n          look: %s\n", k.Kind, k.Name, k.Why, k.Show)
	}
	if len(kept) > 0 {
		fmt.Fprintln(o.App.Out, "to remove what you do not need: rm -r WORKTREE or COPY, git branch -D BRANCH")
	}
}

// sure reports whether to remove so many things.
func (o Clean) sure(n int) (bool, error) {
	return o.App.Sure(n == 0 || o.DryRun, o.Yes, o.JSON, "remove "+plaintext.Count(n, "item"), "pass --yes to remove them, or --dry-run to list them")
}

// finish prints the answer as JSON, or whether so many things were removed; done says that they were.
func (o Clean) finish(answer any, sure bool, n int, done string) error {
	switch {
	case o.JSON:
		return o.App.PrintJSON(answer)
	case sure:
		fmt.Fprintln(o.App.Out, done)
	case n > 0 && !o.DryRun:
		fmt.Fprintln(o.App.Out, "nothing has been removed")
	}
	return nil
}

// All lists the worktrees, and removes those of repositories that are not there any more.
func (o Clean) All() error {
	state := project.StateDir(o.App.Environ)
	if state == "" {
		return errors.New("relay has no folder for state: HOME and XDG_STATE_HOME are not set")
	}
	list, err := slot.Folders(filepath.Join(state, "worktrees"))
	if err != nil {
		return err
	}
	answer := cleaned[slot.Folder]{Version: 1, DryRun: o.DryRun, Removed: []slot.Folder{}, Kept: []slot.Folder{}}
	for _, f := range list {
		whose := "of " + plaintext.FirstOf(f.Repository, "no repository") + "; relay clean there removes what it does not need"
		if f.Gone {
			answer.Removed, whose = append(answer.Removed, f), "of "+f.Repository+", which is not there any more"
		} else {
			answer.Kept = append(answer.Kept, f)
		}
		if !o.JSON {
			fmt.Fprintf(o.App.Out, "%s: %s, %s, %s\n", f.Path, plaintext.Count(f.Slots, "worktree"), plaintext.Bytes(uint64(f.Bytes)), whose)
		}
	}
	if len(list) == 0 && !o.JSON {
		fmt.Fprintln(o.App.Out, "there are no worktrees in "+filepath.Join(state, "worktrees"))
	}
	sure, err := o.sure(len(answer.Removed))
	if sure {
		for _, f := range answer.Removed {
			err = errors.Join(err, git.RemoveTree(f.Path))
		}
	}
	if err != nil {
		return err
	}
	return o.finish(answer, sure, len(answer.Removed), "removed "+plaintext.Count(len(answer.Removed), "folder"))
}

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

// Remains removes the worktrees, branches and copies of .git that ended runs have left.
func (o Clean) Remains(ctx context.Context) error {
	p, err := o.App.Locate(ctx, nil)
	if err != nil {
		return err
	}
	release, err := o.hold(p)
	if err != nil {
		return err
	}
	defer release()
	var open relayfiles.Open
	if pl, v := epicThere(p); v != nil {
		o.App.WarnKilled(v)
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
	answer := cleaned{Version: 1, DryRun: o.DryRun, Removed: []leftover{}, Kept: []keptRemains{}}
	var going []finish.Leftover
	for _, l := range found {
		if l.Why == "" {
			going = append(going, l)
			continue
		}
		answer.Kept = append(answer.Kept, keptRemains{leftover{l.Kind, p.Rel(l.Name)}, l.Why, l.Show})
	}
	if !o.JSON {
		o.list(p, going, answer.Kept)
	}
	sure, err := o.sure(len(going))
	if err != nil {
		return err
	}
	for _, l := range going {
		gone := leftover{l.Kind, p.Rel(l.Name)}
		if sure && !o.remove(ctx, finder, l, &answer) {
			continue
		}
		answer.Removed = append(answer.Removed, gone)
	}
	return o.finish(answer, sure, len(answer.Removed), "removed "+plaintext.Count(len(answer.Removed), "item"))
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
func (o Clean) hold(p *project.Project) (release func(), err error) {
	if !project.Exists(p.Dir) {
		return func() {}, nil
	}
	lock, err := attempts.Hold(p.File(attempts.LockFile), attempts.Self("", o.App.Now()))
	if held, ok := errors.AsType[*attempts.HeldError](err); ok {
		held.Path = "" // it is the epic's own lock, as in every other command
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Release() }, nil // the end of this process does it too
}

// remove removes one thing, unless it must stay by now.
func (o Clean) remove(ctx context.Context, finder finish.Remains, l finish.Leftover, answer *cleaned) bool {
	err := finder.Remove(ctx, l)
	if err == nil {
		return true
	}
	name := project.Rel(finder.Git.Root(), l.Name)
	answer.Kept = append(answer.Kept, keptRemains{leftover{l.Kind, name}, terminal.Message(err), l.Show})
	fmt.Fprintf(o.App.Err, "relay: warning: %s %s stays: %v\n", l.Kind, name, err)
	return false
}

// list says what can be removed, and what cannot.
func (o Clean) list(p *project.Project, going []finish.Leftover, kept []keptRemains) {
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
	if n == 0 || o.DryRun {
		return false, nil
	}
	return o.App.Sure(o.Yes, o.JSON, "remove "+plaintext.Count(n, "item"), "pass --yes to remove them, or --dry-run to list them")
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

// cleanedAll is what relay clean --all --json prints.
type cleanedAll struct {
	Version int           `json:"version"`
	DryRun  bool          `json:"dry_run"`
	Removed []slot.Folder `json:"removed"` // or would be, with DryRun: their repositories are gone
	Kept    []slot.Folder `json:"kept"`
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
	answer := cleanedAll{Version: 1, DryRun: o.DryRun, Removed: []slot.Folder{}, Kept: []slot.Folder{}}
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

package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"relay/cmd/relay/internal/project"
	"relay/epic/plaintext"
	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
)

// Cleaned is what relay clean --all --json prints.
type Cleaned struct {
	Version int           `json:"version"`
	DryRun  bool          `json:"dry_run"`
	Removed []slot.Folder `json:"removed"` // or would be, with DryRun: their repositories are gone
	Kept    []slot.Folder `json:"kept"`
}

// CleanState lists the worktrees, and removes those of repositories that are not there any more; sure asks whether to remove so many
// folders.
func CleanState(a *App, dryRun, json bool, sure func(n int) (bool, error)) error {
	state := project.StateDir(a.Environ)
	if state == "" {
		return errors.New("relay has no folder for state: HOME and XDG_STATE_HOME are not set")
	}
	list, err := slot.Folders(filepath.Join(state, "worktrees"))
	if err != nil {
		return err
	}
	answer := Cleaned{Version: 1, DryRun: dryRun, Removed: []slot.Folder{}, Kept: []slot.Folder{}}
	for _, f := range list {
		whose := "of " + plaintext.FirstOf(f.Repository, "no repository") + "; relay clean there removes what it does not need"
		if f.Gone {
			answer.Removed, whose = append(answer.Removed, f), "of "+f.Repository+", which is not there any more"
		} else {
			answer.Kept = append(answer.Kept, f)
		}
		if !json {
			fmt.Fprintf(a.Out, "%s: %s, %s, %s\n", f.Path, plaintext.Count(f.Slots, "worktree"), plaintext.Bytes(uint64(f.Bytes)), whose)
		}
	}
	if len(list) == 0 && !json {
		fmt.Fprintln(a.Out, "there are no worktrees in "+filepath.Join(state, "worktrees"))
	}
	remove, err := sure(len(answer.Removed))
	if remove {
		for _, f := range answer.Removed {
			err = errors.Join(err, git.RemoveTree(f.Path))
		}
	}
	switch {
	case err != nil:
		return err
	case json:
		return a.PrintJSON(answer)
	case remove:
		fmt.Fprintf(a.Out, "removed %s\n", plaintext.Count(len(answer.Removed), "folder"))
	case len(answer.Removed) > 0 && !dryRun:
		fmt.Fprintln(a.Out, "nothing has been removed")
	}
	return nil
}

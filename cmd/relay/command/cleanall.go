package command

import (
	"errors"
	"fmt"
	"path/filepath"

	"relay/cmd/relay/internal/project"
	"relay/epic/plaintext"
	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
)

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

package command

import (
	"errors"
	"fmt"
	"path/filepath"

	"relay/cmd/relay/internal/project"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/text"
)

// cleanedAll is what relay clean --all --json prints.
type cleanedAll struct {
	Version int           `json:"version"`
	DryRun  bool          `json:"dry_run"`
	Removed []slot.Folder `json:"removed"` // or would be, with DryRun: their repositories are gone
	Kept    []slot.Folder `json:"kept"`
}

// runCleanAll lists the worktrees of all repositories in relay's folder for state, and removes those of repositories that are not there any
// more.
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
		if f.Gone {
			answer.Removed = append(answer.Removed, f)
		} else {
			answer.Kept = append(answer.Kept, f)
		}
		if !opts.json {
			opts.listFolder(f)
		}
	}
	if len(list) == 0 && !opts.json {
		fmt.Fprintln(opts.app.Out, "there are no worktrees in "+filepath.Join(state, "worktrees"))
	}
	sure, err := opts.sure(len(answer.Removed))
	if sure {
		for _, f := range answer.Removed {
			err = errors.Join(err, gitcmd.RemoveTree(f.Path))
		}
	}
	switch {
	case err != nil:
		return err
	case opts.json:
		return opts.app.PrintJSON(answer)
	case sure:
		fmt.Fprintf(opts.app.Out, "removed %s\n", text.Count(len(answer.Removed), "folder"))
	case len(answer.Removed) > 0 && !opts.dryRun:
		fmt.Fprintln(opts.app.Out, "nothing has been removed")
	}
	return nil
}

func (o cleanOptions) listFolder(f slot.Folder) {
	whose := "of " + text.FirstOf(f.Repository, "no repository") + "; relay clean there removes what it does not need"
	if f.Gone {
		whose = "of " + f.Repository + ", which is not there any more"
	}
	fmt.Fprintf(o.app.Out, "%s: %s, %s, %s\n", f.Path, text.Count(f.Slots, "worktree"), text.Bytes(uint64(f.Bytes)), whose)
}

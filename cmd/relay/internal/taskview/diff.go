package taskview

import (
	"context"
	"fmt"
	"io"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
)

// diff prints what the attempt changed, from the best of what is left of it: its own commits, the ref that keeps the work
// of one that did not land, the step of the branch that holds it, or the patch that was kept beside its log.
func (a *Attempt) diff(ctx context.Context, out io.Writer) error {
	p, task, at := a.Project, a.Task, a.Attempt
	if at.Base != "" && at.Base == at.Head {
		return nothingChanged(task, at)
	}
	if hasCommit(ctx, p, at.Base) {
		kept := ""
		if at.Receipt.Salvage != "" {
			kept, _ = p.Git.Ref(ctx, at.Receipt.Salvage) // a name that git does not take keeps nothing
		}
		for _, head := range []string{at.Head, kept} {
			if hasCommit(ctx, p, head) {
				return p.Git.Patch(ctx, at.Base, head, out)
			}
		}
	}
	if hasCommit(ctx, p, at.Landed) {
		fmt.Fprintf(a.App.Err, "relay: warning: the commits of attempt %d are gone; this is the change that it landed with\n", at.ID)
		return p.Git.Patch(ctx, at.Landed+"^1", at.Landed, out)
	}
	if patch := p.File("runs", at.Run, task, fmt.Sprint(at.ID), "changes.patch"); project.Exists(patch) {
		return copyFile(out, patch)
	}
	if at.Head != "" {
		return &exit.Hinted{Err: fmt.Errorf("the commits of attempt %d of %s are gone, and there is no patch of them", at.ID, task), Hint: "relay show " + task}
	}
	return nothingChanged(task, at)
}

func nothingChanged(task string, at *attempts.Attempt) error {
	return &exit.Hinted{Err: fmt.Errorf("attempt %d of %s changed nothing that git knows of", at.ID, task), Hint: "relay show " + task}
}

// hasCommit reports whether the repository has a commit.
func hasCommit(ctx context.Context, p *project.Project, commit string) bool {
	if commit == "" {
		return false
	}
	_, err := p.Git.Commit(ctx, commit)
	return err == nil
}

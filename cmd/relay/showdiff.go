package main

import (
	"context"
	"fmt"
	"io"

	"relay/attempts"
)

// changes shows what an attempt changed, from the best of what is left of it: its own commits, the ref that keeps the work
// of one that did not land, the step of the branch that holds it, or the patch that was kept beside its log.
func (opts showOptions) changes(ctx context.Context, p *place, task string, at *attempts.Attempt, out io.Writer) error {
	if at.Base != "" && at.Base == at.Head {
		return nothingChanged(task, at)
	}
	if p.holds(ctx, at.Base) {
		kept := ""
		if at.Receipt.Salvage != "" {
			kept, _ = p.git.Ref(ctx, at.Receipt.Salvage) // a name that git does not take keeps nothing
		}
		for _, head := range []string{at.Head, kept} {
			if p.holds(ctx, head) {
				return p.git.Patch(ctx, at.Base, head, out)
			}
		}
	}
	if p.holds(ctx, at.Landed) {
		fmt.Fprintf(opts.app.err, "relay: warning: the commits of attempt %d are gone; this is the step of the branch that it landed with\n", at.ID)
		return p.git.Patch(ctx, at.Landed+"^1", at.Landed, out)
	}
	if patch := p.file("runs", at.Run, task, fmt.Sprint(at.ID), "changes.patch"); exists(patch) {
		return copyFile(out, patch)
	}
	if at.Head != "" {
		return &hinted{err: fmt.Errorf("the commits of attempt %d of %s are gone, and there is no patch of them", at.ID, task), hint: "relay show " + task}
	}
	return nothingChanged(task, at)
}

func nothingChanged(task string, at *attempts.Attempt) error {
	return &hinted{err: fmt.Errorf("attempt %d of %s changed nothing that git knows of", at.ID, task), hint: "relay show " + task}
}

// holds reports whether the repository has a commit.
func (p *place) holds(ctx context.Context, commit string) bool {
	if commit == "" {
		return false
	}
	_, err := p.git.Commit(ctx, commit)
	return err == nil
}

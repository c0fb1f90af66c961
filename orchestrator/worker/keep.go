package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/engine"
	"relay/reanchor"
)

// salvageRef is where the work of an attempt is kept that did not succeed.
func salvageRef(epicID string, a engine.Attempt) string {
	return fmt.Sprintf("refs/relay/%s/%s/%d", epicID, a.Task.ID, a.Number)
}

func (wk *work) ref() string { return salvageRef(wk.t.run.o.Epic.ID, wk.t.a) }

// salvage points a ref at what is kept of the attempt. Another ledger of the epic may have used its name: one that was
// removed, or that of another checkout.
func (wk *work) salvage(ctx context.Context, ref, commit string) error {
	t := wk.t
	aside, err := t.c.tree.Salvage(ctx, ref, commit)
	if aside != "" {
		t.f.Note("salvage", ref+" was there from elsewhere: what it led to is kept as "+aside)
	}
	return err
}

// keepWork keeps the work of an attempt that does not land as a ref and a patch.
func (wk *work) keepWork(ctx context.Context) error {
	t := wk.t
	f := &t.f
	if f.Head != "" && f.Head != t.a.Base {
		wk.recordKept()
		if err := wk.salvage(ctx, wk.ref(), f.Head); err == nil {
			f.Receipt.Salvage = wk.ref()
		} else { // an agent can stand in the way of a name; the patch has the work too
			f.Note("salvage", "the work of this attempt is kept in changes.patch only: "+err.Error())
		}
		if err := wk.writePatch(ctx); err != nil {
			f.Note("salvage", "changes.patch of this attempt is not complete: "+err.Error())
			if f.Receipt.Salvage == "" {
				return err
			}
		}
	}
	return wk.keepBranch(ctx)
}

// recordKept writes down in which commit the attempt's work is kept, for a relay that finds it open and put back. Without it
// the work is where it was kept, and no more.
func (wk *work) recordKept() {
	t := wk.t
	path := filepath.Join(t.files.Folder, attemptfiles.KeptName)
	if t.run.makeRoom(path) == nil {
		_ = os.WriteFile(path, []byte(t.f.Head+"\n"), 0o600)
	}
}

// keepBranch keeps commits that an agent left on the run's branch when it continued elsewhere: the branch is put back.
func (wk *work) keepBranch(ctx context.Context) error {
	t := wk.t
	f, tree := &t.f, t.c.tree
	tip, err := t.c.repo.Ref(ctx, tree.Branch)
	if err != nil || tip == "" || tip == t.a.Base || tip == f.Head {
		return err
	}
	if kept, err := tree.Contains(ctx, tip, f.Head); err != nil || kept {
		return err
	}
	ref := wk.ref() + "-branch"
	if err := wk.salvage(ctx, ref, tip); err != nil {
		return err
	}
	f.Receipt.Kept = append(f.Receipt.Kept, ref)
	f.Note("salvage", "what the agent had committed on the branch before it left it is kept in "+ref)
	return nil
}

// patchCap bounds changes.patch, which is there to be read; the ref has everything.
const patchCap = 64 << 20

func (wk *work) writePatch(ctx context.Context) error {
	t := wk.t
	if err := t.run.makeRoom(t.files.Patch); err != nil {
		return err
	}
	file, err := os.OpenFile(t.files.Patch, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(t.c.repo.Patch(ctx, t.a.Base, t.f.Head, &limited{to: file, left: patchCap}), file.Close())
}

// limited takes no more than so many bytes.
type limited struct {
	to   io.Writer
	left int
}

// Write refuses what does not fit, so that git stops.
func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, reanchor.ErrTooMuch
	}
	return l.to.Write(p)
}

package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"relay/orchestrator/engine"
)

// salvageRef is where the work of an attempt is kept that did not succeed.
func salvageRef(epicID string, a engine.Attempt) string {
	return fmt.Sprintf("refs/relay/%s/%s/%d", epicID, a.Task.ID, a.Number)
}

// salvage points a ref at what is kept of an attempt. Another ledger of the epic may have used its name: one that was
// removed, or that of another checkout.
func (c collector) salvage(ctx context.Context, ref, commit string, f *state) error {
	aside, err := c.tree.Salvage(ctx, ref, commit)
	if aside != "" {
		f.Note("salvage", ref+" was there from elsewhere: what it led to is kept as "+aside)
	}
	return err
}

// recordKept writes down in which commit an attempt's work is kept, for a relay that finds it open and put back. Without it
// the work is where it was kept, and no more.
func (c collector) recordKept(p attemptFiles, commit string) {
	path := filepath.Join(p.folder, keptName)
	if c.makeRoom(path) == nil {
		_ = os.WriteFile(path, []byte(commit+"\n"), 0o600)
	}
}

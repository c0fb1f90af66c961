package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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

// keptName is a file that has the commit in which an attempt's work is kept: a ref of the attempt's name may be another
// ledger's.
const keptName = "kept"

// noteKept writes down in which commit an attempt's work is kept, for a relay that finds it open and put back. Without it
// the work is where it was kept, and no more.
func (c collector) noteKept(p attemptFiles, commit string) {
	path := filepath.Join(p.folder, keptName)
	if c.makeRoom(path) == nil {
		_ = os.WriteFile(path, []byte(commit+"\n"), 0o600)
	}
}

// kept is the commit in which an attempt's work is kept; "" : none that is known.
func (p attemptFiles) kept() string {
	path := filepath.Join(p.folder, keptName)
	if !Readable(path) {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

package worker

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"relay/epic"
)

func TestWordsForPlaces(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	path := filepath.Join(y.l.run.o.Worktree.Dir, "mine")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	stay, err := y.life.Close(t.Context())
	if want := "the worktree .agents-os/relay/worktrees/mine was not removed: it is a file"; err != nil || len(stay) != 1 || stay[0] != want {
		t.Errorf("got %q, %v, want %s", stay, err, want)
	}
}

// A task whose name git does not take in a ref has its work kept all the same.
func TestWordsForSalvage(t *testing.T) {
	t.Parallel()
	l := newLab(t, "echo x > x; exit 3").begin()
	f := l.try(epic.Task{ID: "T1.lock", Title: "One"}, nil)
	const want = "the work of this attempt is kept in changes.patch only: git update-ref: fatal: update_ref failed for ref 'refs/relay/20260101-lab/T1.lock/1': refusing to update ref with bad name 'refs/relay/20260101-lab/T1.lock/1'"
	if len(f.Notes) != 1 || f.Notes[0].Text != want || f.Receipt.Salvage != "" {
		t.Errorf("got %+v", f.Notes)
	}
}

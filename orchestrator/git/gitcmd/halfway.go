package gitcmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"relay/reanchor"
)

// halfDone are the files and folders in which git remembers an operation that has not come to its end.
var halfDone = []struct{ path, operation string }{
	{"rebase-merge", "rebase"},
	{"rebase-apply", "rebase"},
	{"MERGE_HEAD", "merge"},
	{"CHERRY_PICK_HEAD", "cherry-pick"},
	{"REVERT_HEAD", "revert"},
	{"sequencer", "cherry-pick"},
	{"BISECT_LOG", "bisect"},
}

// Halfway names the operation that is half done in the checkout, or "".
func Halfway(repo *reanchor.Git) string {
	for _, h := range halfDone {
		if _, err := os.Lstat(filepath.Join(repo.GitDir(), h.path)); err == nil {
			return h.operation
		}
	}
	return ""
}

// Unmerged returns the first path that a merge left in conflict, or "". It is not always halfway: git stash pop
// leaves conflicts too.
func Unmerged(ctx context.Context, repo *reanchor.Git) (string, error) {
	out, err := repo.Run(ctx, Writing("ls-files", "--unmerged", "-z"))
	entry, _, _ := strings.Cut(string(out), "\x00")
	_, path, _ := strings.Cut(entry, "\t")
	return path, err
}

// Forget ends what is half done without looking at it: aborting an operation could fail, and moves branches about.
func Forget(repo *reanchor.Git) error {
	for _, h := range halfDone {
		if err := os.RemoveAll(filepath.Join(repo.GitDir(), h.path)); err != nil {
			return err
		}
	}
	return nil
}

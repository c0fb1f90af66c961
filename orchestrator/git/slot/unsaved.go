package slot

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// UnsavedWorktree returns text that says what would be lost with a worktree of the user's repository; "" is nothing.
func UnsavedWorktree(ctx context.Context, repo *reanchor.Git) (string, error) {
	if why, err := Unsaved(ctx, repo); err != nil || why != "" {
		return why, err
	}
	refs, err := repo.Run(ctx, reanchor.Call{Args: []string{"for-each-ref", "--count=1", "--contains=HEAD", "--format=x"}})
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "git cannot read its HEAD", nil //nolint:nilerr // this is what is told of the slot
	}
	if len(refs) == 0 {
		return "its commit is on no branch", nil
	}
	return "", nil
}

// Unsaved returns text that says what a checkout has that is in no commit; "" is nothing.
func Unsaved(ctx context.Context, repo *reanchor.Git) (string, error) {
	if half := gitcmd.Halfway(repo); half != "" {
		return "a " + half + " in it is half done", nil
	}
	var stderr bytes.Buffer
	call := reanchor.Call{
		Args: []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=none"}, Stderr: &stderr,
	}
	out, err := repo.Run(ctx, call)
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "git cannot read it: " + err.Error(), nil //nolint:nilerr // this is what is told of the slot
	}
	_, linked := os.Lstat(filepath.Join(repo.Root(), ".git"))
	if changed := gitcmd.Unconverted(ctx, repo, "HEAD", uncommitted(string(out), linked != nil)); len(changed) > 0 {
		return "changes in no commit: " + text.Listed(changed), nil
	}
	if closed := gitcmd.ClosedFolders(stderr.String()); len(closed) > 0 {
		return "folders that git may not look into: " + text.Listed(closed), nil
	}
	return hidden(ctx, repo)
}

// uncommitted lists the paths of a status with -z. What is not there any more does not count where a removal of the whole
// worktree was cut short.
func uncommitted(status string, removing bool) (changed []string) {
	for line := range strings.SplitSeq(status, "\x00") {
		if len(line) > 3 && (line[:2] != " D" || !removing) {
			changed = append(changed, line[3:])
		}
	}
	return changed
}

// Inhabitant returns a process whose working folder is path or below it, or 0. Only Linux tells.
func Inhabitant(path string) int {
	found, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, f := range found {
		pid, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		at, err := os.Readlink(filepath.Join("/proc", f.Name(), "cwd"))
		if err == nil && (at == path || strings.HasPrefix(at, path+"/")) {
			return pid
		}
	}
	return 0
}

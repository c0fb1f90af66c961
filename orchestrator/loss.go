package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"relay/reanchor"
)

// loss says in words what would be lost with worktree name: processes that work in it, changes in no commit (ignored
// files do not count), an operation that is half done, a commit on no branch. "" is nothing. It writes nothing.
func (y *yard) loss(ctx context.Context, name string) (string, error) {
	if !isSiteName(name) {
		return "relay has not made it", nil
	}
	dir, err := y.ground(false)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	if pid := inhabitant(path); pid != 0 {
		return fmt.Sprintf("process %d works in it", pid), nil
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink != 0:
		return "", nil
	case err != nil:
		return "", err
	case !info.IsDir():
		return "it is a file", nil
	}
	entries, err := y.entries(dir)
	for _, e := range entries {
		if e.path == path {
			return lossOf(ctx, y.repo.Worktree(path, e.admin))
		}
	}
	if err != nil {
		return "", err
	}
	if found, err := os.ReadDir(path); err != nil || len(found) > 0 {
		return "git does not know it", err
	}
	return "", nil
}

func lossOf(ctx context.Context, repo *reanchor.Git) (string, error) {
	w := &worktree{repo: repo}
	if half := w.halfway(); half != "" {
		return "a " + half + " in it is half done", nil
	}
	out, err := repo.Run(ctx, reanchor.Call{Args: []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=none"}})
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "git cannot read it: " + err.Error(), nil
	}
	var changed []string
	for line := range strings.SplitSeq(string(out), "\x00") {
		if len(line) > 3 && line[:2] != " D" { // what is not there is in the commit: a removal that was cut short leaves that
			changed = append(changed, line[3:])
		}
	}
	if len(changed) > 0 {
		return "changes in no commit: " + listed(changed), nil
	}
	if inner, err := inside(ctx, repo); err != nil || inner != "" {
		return inner, err
	}
	refs, err := repo.Run(ctx, reanchor.Call{Args: []string{"for-each-ref", "--count=1", "--contains=HEAD", "--format=x"}})
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "git cannot read its HEAD", nil
	}
	if len(refs) == 0 {
		return "its commit is on no branch", nil
	}
	return "", nil
}

// inhabitant returns a process whose working folder is path or below it, or 0. Only Linux tells.
func inhabitant(path string) int {
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

// inside names repositories that stand in a worktree: of what is in them a commit of this one has the name only.
func inside(ctx context.Context, repo *reanchor.Git) (string, error) {
	list, err := repo.Run(ctx, reanchor.Call{Args: []string{"ls-files", "--stage", "-z"}, Limit: maxPrinted})
	if err != nil {
		return "git cannot list its files: " + err.Error(), ctx.Err()
	}
	var found []string
	for entry := range strings.SplitSeq(string(list), "\x00") {
		_, path, ok := strings.Cut(entry, "\t")
		if !ok || !strings.HasPrefix(entry, "160000 ") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(path), ".git")); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return "", nil
	}
	return "repositories of their own inside it: " + listed(found), nil
}

package slot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// Unsaved returns text that says what would be lost with slot name: processes that work in it, changes in no commit (ignored
// files do not count), an operation that is half done, commits that the user's repository lacks. "" is nothing.
func (p *Pool) Unsaved(ctx context.Context, name string) (string, error) {
	if !isSlotName(name) {
		return "relay has not made it", nil
	}
	dir, err := p.dir(false)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	if pid := Inhabitant(path); pid != 0 {
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
	case strings.HasPrefix(name, ForRest):
		return restError(path).Error(), nil
	}
	return unsavedAt(ctx, p, dir, name)
}

// unsavedAt is [Pool.Unsaved] for a folder.
func unsavedAt(ctx context.Context, p *Pool, dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	if own := filepath.Join(path, ".git"); sound(own) {
		return p.unsavedIn(ctx, path)
	} else if isDir(own) {
		return "git cannot read it: its .git is not the one relay made", nil
	}
	if renewing(dir, name) {
		return "", nil
	}
	if admin := p.linkedAdmin(path); admin != "" { // of an earlier version
		return UnsavedWorktree(ctx, p.Repo.Worktree(path, admin))
	}
	if found, err := os.ReadDir(path); err != nil || len(found) > 0 {
		return "git does not know it", err
	}
	return "", nil
}

func (p *Pool) unsavedIn(ctx context.Context, path string) (string, error) {
	repo := p.git(path)
	if err := errors.Join(gitcmd.Unblock(repo), p.restore(ctx, repo.GitDir())); err != nil {
		return "", err
	}
	if why, err := Unsaved(ctx, repo); err != nil || why != "" {
		return why, err
	}
	out, err := repo.Run(ctx, reanchor.Call{Args: []string{"rev-list", "--count", "HEAD", "--all", "--not", "--alternate-refs", "--"}})
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "git cannot read its commits", nil //nolint:nilerr // this is what is told of the slot
	}
	if count := strings.TrimSpace(string(out)); count != "0" {
		return "commits that are nowhere else: " + count, nil
	}
	return "", nil
}

package slot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// Unsaved returns text that says what would be lost with slot name: processes that work in it, changes in no commit (ignored
// files do not count), an operation that is half done, commits that the user's repository lacks. "" is nothing.
func (p *Pool) Unsaved(ctx context.Context, name string) (string, error) {
	if !isSlotName(name) {
		return "relay has not made it", nil
	}
	dir, err := p.folder.real(false)
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
		return unsavedIn(ctx, p, path)
	} else if isDir(own) {
		return "git cannot read it: its .git is not the one relay made", nil
	}
	if renewing(dir, name) {
		return "", nil
	}
	if found, err := os.ReadDir(path); err != nil || len(found) > 0 {
		return "git does not know it", err
	}
	return "", nil
}

func unsavedIn(ctx context.Context, p *Pool, path string) (string, error) {
	repo := borrower(p.Repo, path)
	if err := errors.Join(git.Unblock(repo), p.template.restore(ctx, repo.GitDir())); err != nil {
		return "", err
	}
	if half := repo.Operation(); half != "" {
		return "a " + half + " in it is half done", nil
	}
	status, err := repo.Run(ctx, git.Call{Args: []string{
		"status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=untracked", // see UniqueNested
	}})
	if err != nil {
		return "git cannot read it: " + err.Error(), ctx.Err()
	}
	changed := each.Where(strings.Split(string(status), "\x00"), func(line string) (string, bool) {
		return line[min(3, len(line)):], len(line) > 3
	})
	if changed = worktree.Unconverted(ctx, repo, "HEAD", changed); len(changed) > 0 {
		return "changes in no commit: " + plaintext.Listed(changed), nil
	}
	if inner, err := worktree.UniqueNested(ctx, repo); err != nil || len(inner) > 0 {
		return "repositories of their own inside it: " + plaintext.Listed(slices.Sorted(maps.Keys(inner))), err
	}
	out, err := repo.Run(ctx, git.Call{Args: []string{"rev-list", "--count", "HEAD", "--all", "--not", "--alternate-refs", "--"}})
	if err != nil {
		return "git cannot read its commits", ctx.Err()
	}
	if count := strings.TrimSpace(string(out)); count != "0" {
		return "commits that are nowhere else: " + count, nil
	}
	return "", nil
}

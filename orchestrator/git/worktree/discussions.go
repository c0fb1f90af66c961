package worktree

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"relay/attempts/discussion"
	"relay/reanchor/git"
)

// IsDiscussion reports whether a path of a checkout is that of a discussion.
func IsDiscussion(p string) bool {
	return path.Dir(p) == discussion.Folder && (path.Ext(p) == ".yaml" || path.Ext(p) == ".yml")
}

// isRelays reports whether a file is a discussion that relay has opened, or half of one.
func isRelays(full string) bool {
	if strings.HasSuffix(full, discussion.TempSuffix) {
		return true
	}
	e, err := discussion.Decode(readFile(full))
	return err == nil && e.Origin != ""
}

// grown reports whether a file of the checkout is a discussion that has all that a commit has of it.
func grown(ctx context.Context, repo *git.Repo, commit, p string) bool {
	now := readFile(fullPath(repo, p))
	base, found, err := committedFile(ctx, repo, commit, p)
	if err != nil {
		return false
	}
	if !found {
		_, err := discussion.Decode(now)
		return err == nil
	}
	return discussion.Grown(base, now)
}

func fullPath(repo *git.Repo, p string) string {
	return filepath.Join(repo.Root(), filepath.FromSlash(p))
}

func readFile(full string) []byte { return []byte(git.Plain(full, discussion.MaxSize)) }

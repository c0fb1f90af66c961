package worktree

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor/git"
)

// mostConverted bounds how many files are held against what git would write of a commit.
const mostConverted = 200

// asWritten reports whether a file has exactly what git writes of a commit's, through attributes and filters. git takes
// such a file for changed when it would not read the same back: attributes that came later, a filter, ident.
func asWritten(ctx context.Context, repo *git.Repo, commit, p string) bool {
	full := fullPath(repo, p)
	if !git.Exists(full) {
		return false
	}
	written, err := repo.Run(ctx, git.Call{Args: []string{"cat-file", "--filters", commit + ":" + p}, Limit: git.MaxPrinted})
	return err == nil && git.SameAs(written, full)
}

// Unconverted returns those of the paths that are not as git writes them of a commit: somebody has changed them.
func Unconverted(ctx context.Context, repo *git.Repo, commit string, paths []string) []string {
	asked := 0
	return slices.DeleteFunc(paths, func(p string) bool {
		if !converts(repo, p) || asked == mostConverted {
			return false
		}
		asked++
		return asWritten(ctx, repo, commit, p)
	})
}

// converts reports whether git may convert a file on its way in or out, as far as its configuration and attributes show.
func converts(repo *git.Repo, p string) bool {
	config := git.Contents(repo.CommonDir(), []string{"config", "info/attributes"})
	if config[1] != "" || strings.Contains(config[0], "autocrlf") || strings.Contains(config[0], "attributesfile") {
		return true
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(dir), ".gitattributes")); err == nil {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// Converted reports whether what head has of a file is what git reads back of a checkout of base: then only git's conversions
// have changed it.
func Converted(ctx context.Context, repo *git.Repo, p, base, head string) bool {
	if !converts(repo, p) {
		return false
	}
	written, err := repo.Run(ctx, git.Call{Args: []string{"cat-file", "--filters", base + ":" + p}, Limit: git.MaxPrinted})
	if err != nil {
		return false
	}
	read, err := repo.Run(ctx, git.Call{Args: []string{"hash-object", "--path=" + p, "--stdin"}, Stdin: bytes.NewReader(written)})
	if err != nil {
		return false
	}
	has, err := repo.Run(ctx, git.Call{Args: []string{"rev-parse", "--verify", "--end-of-options", head + ":" + p}})
	return err == nil && bytes.Equal(bytes.TrimSpace(read), bytes.TrimSpace(has))
}

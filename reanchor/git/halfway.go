package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Unmerged returns the first path that a merge left in conflict, or "". It is not always halfway: git stash pop
// leaves conflicts too.
func Unmerged(ctx context.Context, repo *Repo) (string, error) {
	out, err := repo.Run(ctx, Writing("ls-files", "--unmerged", "-z"))
	entry, _, _ := strings.Cut(string(out), "\x00")
	_, path, _ := strings.Cut(entry, "\t")
	return path, err
}

// Forget ends what is half done without looking at it: aborting an operation could fail, and moves branches about.
func Forget(repo *Repo) error {
	for _, h := range HalfDone {
		if err := os.RemoveAll(filepath.Join(repo.GitDir(), h[0])); err != nil {
			return err
		}
	}
	return nil
}

package slot

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// checkFilters refuses a repository with files that git could not write into a worktree, because the program of a filter that
// they go through is missing or fails. One file of each filter is tried.
func checkFilters(ctx context.Context, home *git.Repo) error {
	out, err := home.Run(ctx, git.Call{Args: []string{"config", "--name-only", "--get-regexp", `^filter\.`}})
	if err != nil {
		return ctx.Err() // none is set up: git writes everything as it is
	}
	var names []string
	for key := range strings.Lines(string(out)) {
		names = append(names, strings.TrimPrefix(key[:strings.LastIndexByte(key, '.')], "filter."))
	}
	slices.Sort(names)
	return Probe(ctx, home, func(repo *git.Repo) error {
		for _, filter := range slices.Compact(names) {
			file := smallest(ctx, repo, filter)
			if file == "" {
				continue
			}
			_, err := repo.Run(ctx, git.Call{Args: []string{"cat-file", "--filters", ":0:" + file}, Stdout: io.Discard, Wall: filterWall})
			if err != nil && ctx.Err() == nil {
				name := plaintext.Listed([]string{filter})
				return &attempts.RefusedError{
					Reason: fmt.Sprintf("git cannot write %s into a worktree, because its filter %s fails: %v", plaintext.Listed([]string{file}), name, err),
					Hint:   "mend what filter." + name + " in git config names (install it, unlock the repository), or set relay.isolation: none",
				}
			}
		}
		return ctx.Err()
	})
}

// filterWall is how long a filter may take for a small file, which it may have to fetch.
const filterWall = 2 * time.Minute

// smallest returns the smallest file of the checkout whose attributes name a filter; "": there is none, or it cannot be found out.
func smallest(ctx context.Context, repo *git.Repo, filter string) (file string) {
	out, _ := repo.Run(ctx, git.Call{Args: []string{"ls-files", "-z", "--", ":(top,attr:filter=" + filter + ")"}, Limit: git.MaxPrinted})
	least := int64(math.MaxInt64)
	for path := range strings.SplitSeq(string(out), "\x00") {
		info, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(path)))
		if path != "" && err == nil && info.Mode().IsRegular() && info.Size() < least {
			file, least = path, info.Size()
		}
	}
	return file
}

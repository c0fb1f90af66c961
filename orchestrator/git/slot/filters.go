package slot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// checkFilters refuses a repository with files that git could not write into a worktree, because the program of a filter that
// they go through is missing or fails. One file of each filter is tried.
func checkFilters(ctx context.Context, home *git.Repo) error {
	if _, err := home.Run(ctx, git.Call{Args: []string{"config", "--get-regexp", `^filter\.`}}); err != nil {
		return ctx.Err() // none is set up: git writes everything as it is
	}
	return Probe(ctx, home, func(repo *git.Repo) error {
		used, err := filtered(ctx, repo)
		if err != nil {
			return err
		}
		for _, filter := range slices.Sorted(maps.Keys(used)) {
			_, err := repo.Run(ctx, git.Call{
				Args: []string{"cat-file", "--filters", ":0:" + used[filter].path}, Stdout: io.Discard, Wall: filterWall,
			})
			if err != nil && ctx.Err() == nil {
				name := plaintext.Listed([]string{filter})
				return &attempts.RefusedError{
					Reason: fmt.Sprintf("git cannot write %s into a worktree, because its filter %s fails: %v", plaintext.Listed([]string{used[filter].path}), name, err),
					Hint:   "mend what filter." + name + " in git config names (install it, unlock the repository), or set relay.isolation: none",
				}
			}
		}
		return ctx.Err()
	})
}

// filterWall is how long a filter may take for a small file, which it may have to fetch.
const filterWall = 2 * time.Minute

// sized is a file and its size in the checkout.
type sized struct {
	path string
	size int64
}

// filtered returns the smallest file of each filter that attributes name.
func filtered(ctx context.Context, repo *git.Repo) (map[string]sized, error) {
	names, err := repo.Run(ctx, git.Call{Args: []string{"ls-files", "-z"}, Limit: git.MaxPrinted})
	if errors.Is(err, git.ErrTooMuch) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := smallest{root: repo.Root(), of: map[string]sized{}}
	_, err = repo.Run(ctx, git.Call{
		Args: []string{"check-attr", "-z", "--stdin", "filter"}, Stdin: bytes.NewReader(names), Stdout: &found,
	})
	return found.of, err
}

// smallest reads what git check-attr -z says of files and keeps the smallest of each value.
type smallest struct {
	root string
	of   map[string]sized
	rest []byte // of an answer that has not ended
}

// Write reads a part of git's answers: each is a path, the attribute's name, and its value.
func (s *smallest) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		fields := bytes.SplitN(s.rest, []byte{0}, 4)
		if len(fields) < 4 {
			return len(p), nil
		}
		path, value := string(fields[0]), string(fields[2])
		s.rest = fields[3]
		if value == "unspecified" || value == "unset" || value == "set" {
			continue
		}
		info, err := os.Lstat(filepath.Join(s.root, filepath.FromSlash(path)))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if least, ok := s.of[value]; !ok || info.Size() < least.size {
			s.of[value] = sized{path, info.Size()}
		}
	}
}

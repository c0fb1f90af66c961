package provision

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
	"relay/runners/kinds"
)

// IsSteering reports whether agent CLIs read a file of a repository: their configuration, commands and plugins, and instructions.
func IsSteering(p string) bool { return slices.ContainsFunc(strings.Split(p, "/"), kinds.Steers) }

// ConfiguresAgents reports whether a file can have an agent CLI run a program or ask another server, as its instructions cannot.
func ConfiguresAgents(p string) bool { return IsSteering(p) && !strings.HasSuffix(p, ".md") }

// Limits of the comparison: bytes of each file, and files in all.
const (
	maxBytes = 1 << 20
	maxFiles = 2000
)

// SteeringDigest returns a digest of the configuration of agent CLIs in a checkout, whether git knows of it or not.
func SteeringDigest(root string) string {
	sum, found := sha256.New(), 0
	names, _ := os.ReadDir(root)
	for _, name := range names {
		if !ConfiguresAgents(name.Name()) {
			continue
		}
		_ = filepath.WalkDir(filepath.Join(root, name.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what cannot be read is as if it were not there, for the CLI too
			}
			rel, _ := filepath.Rel(root, path)
			switch found++; {
			case kinds.Leaves(filepath.ToSlash(rel)) && d.IsDir():
				return fs.SkipDir
			case kinds.Leaves(filepath.ToSlash(rel)):
				return nil
			case found > maxFiles:
				return fs.SkipAll
			}
			fmt.Fprintf(sum, "%q %s ", rel, d.Type())
			switch {
			case d.Type()&fs.ModeSymlink != 0:
				to, _ := os.Readlink(path)
				fmt.Fprintf(sum, "%q", to)
			case d.Type().IsRegular():
				sum.Write(headOf(path, maxBytes))
			}
			return nil
		})
	}
	if found == 0 {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func headOf(path string, most int64) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	part := make([]byte, most)
	n, _ := file.ReadAt(part, 0)
	return part[:n]
}

// UseTrustedSteering gives a checkout those files that agent CLIs read from a trusted commit, and returns a function that puts those of
// its head back.
func UseTrustedSteering(ctx context.Context, repo *git.Repo, trusted, head string) (back func() error, err error) {
	var changed, added []string
	err = repo.EachName(ctx, trusted, head, func(n git.Change) error {
		switch {
		case n.Code == "A" && IsSteering(n.Path):
			added = append(added, n.Path)
		case IsSteering(n.Path) || IsSteering(n.From):
			changed = append(changed, n.Path)
			if n.From != "" {
				added, changed[len(changed)-1] = append(added, n.Path), n.From
			}
		}
		return nil
	})
	nothing := func() error { return nil }
	if err != nil || len(changed)+len(added) == 0 {
		return nothing, err
	}
	tree := &worktree.Tree{Repo: repo}
	if err := errors.Join(tree.Discard(added), tree.Lay(ctx, trusted, changed)); err != nil {
		return nothing, err
	}
	return func() error {
		uninterruptedCtx, cancel := git.Uninterrupted(ctx)
		defer cancel()
		return tree.Lay(uninterruptedCtx, head, slices.Concat(added, changed))
	}, nil
}

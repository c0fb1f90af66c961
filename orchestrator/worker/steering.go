package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"relay/orchestrator/git/worktree"
	"relay/reanchor"
)

// steering matches the files of a repository by which agent CLIs go: their configuration, commands and plugins, and what
// they read as instructions.
var steering = regexp.MustCompile(`(^|/)(\.claude|\.codex|\.gemini|\.opencode)(/|$)|(^|/)(\.mcp\.json|opencode[^/]*\.jsonc?|(CLAUDE|AGENTS|GEMINI)(\.[a-z]+)?\.md)$`)

// configures reports whether a file can have an agent CLI run a program or ask another server, as its instructions cannot.
func configures(p string) bool { return steering.MatchString(p) && !strings.HasSuffix(p, ".md") }

// configured are the names in the root of a checkout under which agent CLIs look for configuration.
var configured = []string{".claude", ".codex", ".gemini", ".opencode", ".mcp.json", "opencode.json", "opencode.jsonc"}

// What bounds the comparison: bytes of each file, and files in all.
const (
	maxConfigured      = 1 << 20
	maxConfiguredFiles = 2000
)

// ownFiles matches what agent CLIs put beside their configuration themselves, when they are started.
var ownFiles = regexp.MustCompile(`^(\.opencode/(node_modules|package(-lock)?\.json|bun\.lockb?|\.gitignore)|\.claude/worktrees)$`)

// configuration is a digest of the configuration of agent CLIs in a checkout, whether git knows of it or not.
func configuration(root string) string {
	sum, found := sha256.New(), 0
	for _, name := range configured {
		_ = filepath.WalkDir(filepath.Join(root, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what cannot be read is as if it were not there, for the CLI too
			}
			rel, _ := filepath.Rel(root, path)
			switch found++; {
			case ownFiles.MatchString(filepath.ToSlash(rel)) && d.IsDir():
				return fs.SkipDir
			case ownFiles.MatchString(filepath.ToSlash(rel)):
				return nil
			case found > maxConfiguredFiles:
				return fs.SkipAll
			}
			fmt.Fprintf(sum, "%q %s ", rel, d.Type())
			switch {
			case d.Type()&fs.ModeSymlink != 0:
				to, _ := os.Readlink(path)
				fmt.Fprintf(sum, "%q", to)
			case d.Type().IsRegular():
				sum.Write(headOf(path, maxConfigured))
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

// steered reports whether the configuration of agent CLIs in a checkout is not what the user had when the run began: then
// an agent gets none of it.
func (c agentTurns) steered() bool {
	return c.landedSteering.Load() || configuration(c.repo.Root()) != c.config
}

// noteSteering takes note of a landing that changes the configuration of agent CLIs: later worktrees have it.
func (g *workspace) noteSteering(files []string) {
	if slices.ContainsFunc(files, configures) {
		g.landedSteering.Store(true)
	}
}

// compareSteering looks whether earlier runs have landed such a change that the user's branch lacks.
func (s *slotEngine) compareSteering(ctx context.Context) error {
	tip := s.headGuard.Tip()
	if tip == "" || tip == s.trusted {
		return nil
	}
	return s.home.EachName(ctx, s.trusted, tip, func(n reanchor.Change) error {
		s.noteSteering([]string{n.Path, n.From})
		return nil
	})
}

// unsteer gives a reviewer's checkout the steering files that the user had when the run began, and returns what puts
// those of the head back.
func (g *workspace) unsteer(ctx context.Context, repo *reanchor.Git, head string) (back func() error, err error) {
	var changed, added []string
	err = repo.EachName(ctx, g.trusted, head, func(n reanchor.Change) error {
		switch {
		case n.Code == "A" && steering.MatchString(n.Path):
			added = append(added, n.Path)
		case steering.MatchString(n.Path) || steering.MatchString(n.From):
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
	if err := errors.Join(tree.Discard(added), tree.Lay(ctx, g.trusted, changed)); err != nil {
		return nothing, err
	}
	return func() error {
		settled, cancel := uninterrupted(ctx)
		defer cancel()
		return tree.Lay(settled, head, slices.Concat(added, changed))
	}, nil
}

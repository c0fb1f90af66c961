package worker

import (
	"context"
	"path/filepath"

	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/reanchor"
)

// slotAttempt is one attempt in its slot.
type slotAttempt struct {
	*slotEngine
	a     engine.Attempt
	p     attemptFiles
	name  string // of the slot
	c     *checkout
	gone  bool              // the agent has destroyed it
	inner map[string]string // what submodules had before the agent that is nowhere else
}

// attemptIn returns the attempt a in a slot.
func (s *slotEngine) attemptIn(name string, repo *reanchor.Git, a engine.Attempt) *slotAttempt {
	c := &checkout{workspace: s.workspace, repo: repo, tree: &worktree.Tree{Repo: repo, Branch: "refs/heads/" + s.branch(a)}}
	if name != "" {
		c.tree.Home = s.home
		c.tree.Bring = func(ctx context.Context, commit, ref string) error {
			return s.pool.Fetch(ctx, repo, commit, a.Base, ref)
		}
	}
	c.facts = reanchor.NewCached(repo, RecentCommits, 0, s.now)
	c.ceiling, c.alone = filepath.Dir(repo.Root()), s.alone
	return &slotAttempt{slotEngine: s, a: a, p: filesOf(s.o.Dir, a), name: name, c: c}
}

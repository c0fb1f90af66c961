package worker

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/git/nested"
	"relay/reanchor"
)

// failForRepositories fails an attempt that has put another repository into its commits: they have its name only, and what is in it
// would be in this checkout alone, or nowhere. Submodules that others can get are as they should be.
func (c collector) failForRepositories(ctx context.Context, names []reanchor.Change, f *state) error {
	var known []string
	for _, n := range names {
		if n.Link == "" {
			continue
		}
		if known == nil {
			var err error
			if known, err = nested.Declared(ctx, c.tree.Repo, f.Head); err != nil {
				return err
			}
		}
		why := ""
		switch {
		case !slices.Contains(known, n.Path):
			why = "the agent put a repository into the commit: " + n.Path + "; its content would not land"
			if nested.At(c.tree.Repo, n.Path) {
				c.tree.Leave(n.Path + "/")
			}
		case c.ceiling != "" && nested.MadeCommit(ctx, c.tree.Repo, n.Path, n.Link): // a user's own submodule stays with the user
			why = "the agent committed in submodule " + n.Path + ", and only this worktree has that commit; it would not land"
			c.tree.Leave(n.Path + "/")
		}
		if why != "" && f.Outcome == attempts.Success {
			f.Fail(attempts.Agent, attempts.CodeError, why)
		}
	}
	return nil
}

// noteLinks tells of new links that lead out of the checkout: what is found there is in no other clone, and checks pass by it.
func (c verifier) noteLinks(names []reanchor.Change, f *state) {
	for _, n := range names {
		if n.Code == "D" {
			continue
		}
		target, err := os.Readlink(filepath.Join(c.repo.Root(), filepath.FromSlash(n.Path)))
		if err != nil { // it is no link
			continue
		}
		to := filepath.ToSlash(target)
		if filepath.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(n.Path), to))) {
			f.Note("link", n.Path+" is a link to "+attempts.Clean(to, 200)+", outside the repository: no other clone has what is there")
		}
	}
}

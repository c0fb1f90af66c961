package orchestrator

import (
	"context"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/reanchor"
)

// openCheckout looks at the repository and refuses what no attempt could work in.
func openCheckout(ctx context.Context, o *Options, heard chan<- Heard) (local, error) {
	repo := o.Repo
	g := &ground{o: o, home: repo, stash: &stashGuard{repo: repo, epic: o.Epic.ID}, heard: heard, now: time.Now}
	c := &checkout{ground: g, repo: repo}
	c.facts = reanchor.NewCached(repo, recentCommits, factsAge(o.Isolation), time.Now)
	c.vault = &vault{gitDir: filepath.Join(repo.Root(), ".git"), store: firstOf(o.Vault, filepath.Join(o.Dir, "git-copy", "own")), aside: filepath.Join(o.Dir, "git-damaged")}
	if o.Isolation == IsolationShared {
		if len(o.Review.Reviewers) > 0 {
			return nil, &RefusedError{Reason: "a review needs to know whose change is whose, and isolation: shared does not", Hint: "relay work --no-review, or relay.isolation: none"}
		}
		return c, nil
	}
	branch, err := repo.Branch(ctx)
	if err != nil {
		return nil, err
	}
	head, err := repo.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head == "":
		return nil, &RefusedError{Reason: "this repository has no commit yet, so there is nothing to begin from", Hint: "git add -A && git commit -m 'first commit'"}
	}
	if o.Isolation == IsolationWorktree {
		g.origin = attempts.Integration{Branch: "relay/" + o.Epic.ID, From: branch, Base: head}
		return newLanes(g), nil
	}
	if branch == "" {
		return nil, &RefusedError{Reason: "HEAD is detached: commits made tonight would belong to no branch", Hint: "git switch -c NAME"}
	}
	c.tree = &worktree{repo: repo, branch: "refs/heads/" + branch}
	return c, nil
}

// factsAge is how old the state of the checkout in a brief may be. Side by side, tasks change it all the time anyway.
func factsAge(i Isolation) time.Duration {
	if i == IsolationShared {
		return time.Second
	}
	return 0
}

// recentCommits is how many commits a brief shows.
const recentCommits = 5

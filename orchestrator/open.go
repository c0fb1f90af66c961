package orchestrator

import (
	"context"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/orchestrator/text"
	"relay/orchestrator/trees"
	"relay/reanchor"
)

// openCheckout looks at the repository and refuses what no attempt could work in.
func openCheckout(ctx context.Context, o *Options, heard chan<- Heard) (local, error) {
	repo := o.Repo.Within(o.Env)
	g := &ground{o: o, home: repo, stash: &stashGuard{repo: repo, epic: o.Epic.ID}, watched: watched{rules: &trees.Rules{Repo: repo, Env: o.Env}}, heard: heard, now: time.Now}
	g.settings.begin(o.Files)
	g.watchTools()
	if !o.Push {
		var err error
		if g.noPush, err = refusePush(ctx, repo); err != nil {
			return nil, err
		}
	}
	c := &checkout{ground: g, repo: repo, config: configuration(repo.Root()), base: baseChecks{verdicts: verdicts{known: make(map[verdictKey]*verdict)}}}
	c.facts = reanchor.NewCached(repo, recentCommits, factsAge(o.Isolation), time.Now)
	c.vault = &trees.Vault{GitDir: filepath.Join(repo.Root(), ".git"), Store: firstOf(o.Vault, filepath.Join(o.Dir, "git-copy", "own")), Aside: filepath.Join(o.Dir, "git-damaged")}
	if o.Isolation == IsolationShared {
		if len(o.Review.Reviewers) > 0 {
			return nil, &text.RefusedError{Reason: "a review needs to know whose change is whose, and isolation: shared does not", Hint: "relay work --no-review, or relay.isolation: none"}
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
		return nil, &text.RefusedError{Reason: "this repository has no commit yet, so there is nothing to begin from", Hint: "git add -A && git commit --allow-empty -m Begin"}
	}
	g.trusted = head
	if o.Isolation == IsolationWorktree {
		g.origin = attempts.Integration{Branch: "relay/" + o.Epic.ID, From: branch, Base: head}
		return newLanes(g), nil
	}
	if branch == "" {
		return nil, &text.RefusedError{Reason: "HEAD is detached: commits made tonight would belong to no branch", Hint: "git switch -c NAME"}
	}
	c.tree = &trees.Tree{Repo: repo, Branch: "refs/heads/" + branch}
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

package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"relay/orchestrator/checks"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/gittrace"
	"relay/orchestrator/git/recordfiles"
	"relay/orchestrator/git/worktree"

	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// checkout is a working tree that tasks work in: a slot, or the user's own. The user's own checkout is an engine
// by itself.
type checkout struct {
	*workspace
	repo  *reanchor.Git
	facts *reanchor.Cached
	tree  *worktree.Tree // nil with IsolationShared: changes then belong to no task

	traces string // folder in which git writes down what the agent has it do; "" : it does not
	config string // the configuration of agent CLIs before any agent; see steered

	did         []gittrace.Command // by the agent, since guard was called before
	turned      bool               // the agent has worked since the user's checkout was looked at
	changesSeen int                // of the user's checkout

	ceiling string      // folder above which git must not look for a repository; "" : anywhere
	alone   func() bool // whether nobody else's agent or check is at work now; nil: see failIfAlone

	from string     // where the branch ended when the run began
	base baseChecks // of the user's own checkout

	clearing sync.Mutex
	cleared  time.Time // see clearWay
}

// Prepare names the commit the attempt begins from.
func (c *checkout) Prepare(ctx context.Context, _ engine.Attempt) (string, error) {
	if c.tree == nil {
		f, err := c.state(ctx)
		return f.Head, err
	}
	branch, err := c.repo.Branch(ctx)
	if err != nil {
		return "", err
	}
	// After the attempt the run's branch is put to where it ended: it must have begun there.
	if began := strings.TrimPrefix(c.tree.Branch, "refs/heads/"); branch != began {
		return "", &text.RefusedError{Reason: "this checkout is not on branch " + began + " any more, where the run began", Hint: "git switch " + began + ", then relay work"}
	}
	return c.repo.Head(ctx)
}

// unblock makes sure, side by side, that git will not wait for ever for what an agent put in its way. It looks no
// more often than the facts are asked for, and always before.
func (c *checkout) unblock() error {
	if c.tree != nil {
		return nil
	}
	c.clearing.Lock()
	defer c.clearing.Unlock()
	now := c.now()
	if age := now.Sub(c.cleared); age >= 0 && age < factsAge(c.o.Isolation) {
		return nil
	}
	c.cleared = now
	return gitcmd.Unblock(c.repo)
}

// state asks git how the checkout stands; what relay has added to records is none of the changes. Side by side a neighbour's agent may
// have taken .git away this moment: that must not end the run.
func (c *checkout) state(ctx context.Context) (f reanchor.Facts, err error) {
	if err := c.unblock(); err != nil {
		return f, err
	}
	for range mendings {
		f, err = c.facts.Facts(ctx)
		if err == nil || ctx.Err() != nil || c.tree != nil || gitcmd.Unasked(err) != nil {
			break
		}
		if _, mending := c.backup.Mend(ctx, c.home); mending != nil {
			return f, errors.Join(err, mending)
		}
	}
	f.Changes = recordfiles.Others(ctx, c.repo, f.Changes)
	return f, err
}

// mendings is how often in a row .git is put back before its loss ends the run: each neighbour's agent takes it away once.
const mendings = 200

// Attempt runs the agent, looks at what it did, and either leaves its commits on the branch or sets them aside.
func (c *checkout) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	f, err := c.attempt(a).run(ctx)
	return f.Result, err
}

// baseChecks are the results of checks before the work in the user's own checkout.
type baseChecks struct {
	cache *checks.Cache
	epic  checks.Baseline // of the commit that the next attempt begins from
}

// factsAge is how old the state of the checkout in a brief may be. Side by side, tasks change it all the time anyway.
func factsAge(i engine.Isolation) time.Duration {
	if i == engine.IsolationShared {
		return time.Second
	}
	return 0
}

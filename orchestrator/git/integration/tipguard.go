package integration

import (
	"context"
	"errors"
	"strings"
	"sync"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// TipGuard knows where relay has put the integration branch during a run. It accepts commits that a person adds meanwhile, and reverts any
// other move. Agents work in repositories of their own and do not reach it.
type TipGuard struct {
	Branch *Branch
	// Describe says, in words to go on with, what is serious about commits that are taken in; nil: nothing.
	Describe func(ctx context.Context, from, to string) string

	mu         sync.Mutex
	tip        string // where relay has put it
	unreported string // what was found and put right while something landed; Mend reports it
}

// Tip returns the commit that attempts begin from now.
func (g *TipGuard) Tip() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tip
}

// Begin makes the branch at head when there is none.
func (g *TipGuard) Begin(ctx context.Context, head string) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tip, err = create(ctx, g.Branch, head)
	return err
}

// Step moves the branch on. It reports false when a person has added to it, and there is another tip to begin from.
func (g *TipGuard) Step(ctx context.Context, to string) (moved bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	err = advance(ctx, g.Branch, g.tip, to)
	if errors.Is(err, errMoved) {
		var restored string
		if restored, err = g.restore(ctx); err != nil || restored == "" {
			return false, err
		}
		g.unreported = restored
		err = advance(ctx, g.Branch, g.tip, to)
	}
	if err == nil {
		g.tip = to
	}
	return err == nil, err
}

// Forward moves the branch to a commit that has all of it, and reports whether it did. It leaves the branch alone if to lacks some of it.
func (g *TipGuard) Forward(ctx context.Context, to string) (moved bool, err error) {
	tip := g.Tip()
	if to == "" || to == tip {
		return false, nil
	}
	held, err := git.Contains(ctx, g.Branch.Repo, to, tip)
	if err != nil || !held {
		return false, err
	}
	return g.Step(ctx, to)
}

// Mend restores the tip, for callers that do not move the branch, and returns in words what it restored. Before Begin there is none.
func (g *TipGuard) Mend(ctx context.Context) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tip == "" {
		return "", nil
	}
	found, err := g.restore(ctx)
	if found == "" {
		found = g.unreported
	}
	if err == nil {
		g.unreported = ""
	}
	return found, err
}

// restore puts the branch back where relay has put it, and says in words what was found; nothing when all is well, or
// when a person has added to it: then that is the tip.
func (g *TipGuard) restore(ctx context.Context) (found string, err error) {
	tip, branch, err := g.Branch.Position(ctx)
	if err != nil || tip == g.tip && branch == tip {
		return found, err
	}
	if tip != g.tip {
		if err := g.putBack(ctx, g.Branch.Ref(), tip); err != nil {
			return found, err
		}
	}
	if branch == g.tip {
		return "relay's own ref " + g.Branch.Ref() + " was moved; relay put it back", nil
	}
	if tip == g.tip && branch != "" { // only relay moves its own ref
		added, err := git.Contains(ctx, g.Branch.Repo, branch, g.tip)
		if err != nil {
			return found, err
		}
		if added {
			return found, g.takeIn(ctx)
		}
	}
	found = "the branch relay/" + g.Branch.epic + " was moved; relay put it back"
	if branch != "" {
		kept, err := g.keepAside(ctx, branch)
		if err != nil {
			return found, err
		}
		found += kept
	}
	return found, g.putBack(ctx, g.Branch.BranchRef(), branch)
}

// takeIn makes the commits that a person has added the tip, and notes them for Mend.
func (g *TipGuard) takeIn(ctx context.Context) error {
	tip, err := g.Branch.Tip(ctx)
	if err != nil || tip == g.tip {
		return err
	}
	if err := moveRefs(ctx, g.Branch, move{g.Branch.Ref(), g.tip, tip}); err != nil {
		return err
	}
	g.unreported = plaintext.FirstOf(g.describeTaken(ctx, g.tip, tip), g.unreported)
	g.tip = tip
	return nil
}

// putBack moves a ref from where it is to where relay had put it.
func (g *TipGuard) putBack(ctx context.Context, ref, from string) error {
	return moveRefs(ctx, g.Branch, move{ref, from, g.tip})
}

// keepAside gives a commit a ref when the branch does not contain it, and returns text that says so.
func (g *TipGuard) keepAside(ctx context.Context, commit string) (string, error) {
	if held, err := git.Contains(ctx, g.Branch.Repo, g.tip, commit); err == nil && held {
		return "", nil
	}
	ref := "refs/relay/" + g.Branch.epic + "-moved/" + commit
	if err := moveRefs(ctx, g.Branch, move{ref, "", commit}); err != nil && !errors.Is(err, errMoved) {
		return "", err
	}
	return ", and keeps what was there as " + ref, nil
}

// describeTaken returns text that names the commits that a person has added.
func (g *TipGuard) describeTaken(ctx context.Context, from, to string) string {
	list, err := g.Branch.Git(ctx, nil, "rev-list", "--max-count=100", from+".."+to)
	if err != nil {
		return ""
	}
	text := plaintext.Count(len(strings.Fields(list)), "commit") + " that relay did not make was added to relay/" + g.Branch.epic + " (git log " + from[:7] + ".." + to[:7] + ")"
	if g.Describe != nil {
		text += g.Describe(ctx, from, to)
	}
	return text
}

package landing

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync"

	"relay/orchestrator/text"
	"relay/orchestrator/trees"
)

// TipGuard knows where the integration branch is during a run: where relay has put it. What a person adds to it meanwhile is
// taken in; any other move is put back. Agents work in repositories of their own and do not reach it.
type TipGuard struct {
	Trunk *Trunk
	// Weigh says, in words to go on with, what is grave about commits that are taken in; nil: nothing.
	Weigh func(ctx context.Context, from, to string) string

	mu      sync.Mutex
	at      string         // where relay has put it
	strayed trees.Meddling // what was found and put right while something landed: the next one to look is told
}

// Tip is the commit that attempts begin from now.
func (g *TipGuard) Tip() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at
}

// Begin makes the branch at head when there is none.
func (g *TipGuard) Begin(ctx context.Context, head string) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at, err = g.Trunk.begin(ctx, head)
	return err
}

// Step moves the branch on. It reports false when a person has added to it, and there is another tip to begin from.
func (g *TipGuard) Step(ctx context.Context, to string) (moved bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	err = g.Trunk.advance(ctx, g.at, to)
	if errors.Is(err, errMoved) {
		var strayed trees.Meddling
		if strayed, err = g.restore(ctx); err != nil || strayed.Text == "" {
			return false, err
		}
		g.strayed = strayed
		err = g.Trunk.advance(ctx, g.at, to)
	}
	if err == nil {
		g.at = to
	}
	return err == nil, err
}

// Mend is restore for whoever does not move the branch.
func (g *TipGuard) Mend(ctx context.Context) (trees.Meddling, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, err := g.restore(ctx)
	if found.Text == "" {
		found = g.strayed
	}
	if err == nil {
		g.strayed = trees.Meddling{}
	}
	return found, err
}

// restore puts the branch back where relay has put it, and says in words what was found; nothing when all is well, or
// when a person has added to it: then that is the tip.
func (g *TipGuard) restore(ctx context.Context) (found trees.Meddling, err error) {
	tip, branch, err := g.Trunk.stands(ctx)
	if err != nil || tip == g.at && branch == tip {
		return found, err
	}
	if tip != g.at {
		if err := g.put(ctx, g.Trunk.Ref(), tip); err != nil {
			return found, err
		}
	}
	if branch == g.at {
		return trees.Meddling{Text: "relay's own ref " + g.Trunk.Ref() + " was moved; relay put it back", Grave: true}, nil
	}
	if tip == g.at && branch != "" { // nobody but relay moves its own ref
		added, err := g.Trunk.Contains(ctx, branch, g.at)
		if err != nil {
			return found, err
		}
		if added {
			return found, g.take(ctx)
		}
	}
	found.Text = "the branch relay/" + g.Trunk.epic + " was moved; relay put it back"
	if branch != "" {
		kept, err := g.keep(ctx, branch)
		if err != nil {
			return found, err
		}
		found.Text += kept
		found.Grave = tip != g.at
	}
	return found, g.put(ctx, g.Trunk.branch(), branch)
}

// take makes what a person has added part of what relay goes by. The next one to look is told.
func (g *TipGuard) take(ctx context.Context) error {
	tip, err := g.Trunk.tip(ctx)
	if err != nil || tip == g.at {
		return err
	}
	if err := g.Trunk.move(ctx, move{g.Trunk.Ref(), g.at, tip}); err != nil {
		return err
	}
	if text := g.tookIn(ctx, g.at, tip); text != "" {
		g.strayed = trees.Meddling{Text: text}
	}
	g.at = tip
	return nil
}

// put moves a ref from where it is to where relay had put it. Refs with which an agent has taken its place are kept
// under another name.
func (g *TipGuard) put(ctx context.Context, ref, from string) error {
	moving := g.Trunk.move(ctx, move{ref, from, g.at})
	if moving == nil || from != "" {
		return moving
	}
	list, err := g.Trunk.git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", ref+"/", path.Dir(ref))
	if err != nil {
		return errors.Join(moving, err)
	}
	for line := range strings.Lines(list) {
		commit, other, _ := strings.Cut(strings.TrimSpace(line), " ")
		if other != path.Dir(ref) && !strings.HasPrefix(other, ref+"/") {
			continue
		}
		if _, err := g.keep(ctx, commit); err != nil {
			return err
		}
		if _, err := g.Trunk.git(ctx, nil, "update-ref", "--no-deref", "-d", other, commit); err != nil {
			return err
		}
	}
	return g.Trunk.move(ctx, move{ref, from, g.at})
}

// keep gives a commit a ref when the branch does not have it, and says so in words.
func (g *TipGuard) keep(ctx context.Context, commit string) (string, error) {
	if held, err := g.Trunk.Contains(ctx, g.at, commit); err == nil && held {
		return "", nil
	}
	ref := "refs/relay/" + g.Trunk.epic + "-moved/" + commit
	if err := g.Trunk.move(ctx, move{ref, "", commit}); err != nil && !errors.Is(err, errMoved) {
		return "", err
	}
	return ", and keeps what was there as " + ref, nil
}

// tookIn says in words what of a person's has become part of what relay goes by.
func (g *TipGuard) tookIn(ctx context.Context, from, to string) string {
	list, err := g.Trunk.git(ctx, nil, "rev-list", "--max-count=100", from+".."+to)
	if err != nil {
		return ""
	}
	text := text.Count(len(strings.Fields(list)), "commit") + " that relay did not make was taken in on relay/" + g.Trunk.epic + " (git log " + from[:7] + ".." + to[:7] + ")"
	if g.Weigh != nil {
		text += g.Weigh(ctx, from, to)
	}
	return text
}

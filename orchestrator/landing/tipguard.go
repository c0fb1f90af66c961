package landing

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/orchestrator/trees"
)

// TipGuard keeps agents from landing their own work: during a run the integration branch is where relay has put it.
// Only a person who has checked it out outside relay's worktrees can add to it meanwhile.
type TipGuard struct {
	Trunk *Trunk
	Dir   string // of relay's worktrees
	// Weigh says, in words to go on with, what is grave about commits that are taken in; nil: nothing.
	Weigh func(ctx context.Context, from, to string) string

	mu      sync.Mutex
	at      string         // where relay has put it
	strayed trees.Meddling // what was found and put right while something landed: the next one to look is told
	began   time.Time
	presence
}

// Tip is the commit that attempts begin from now.
func (g *TipGuard) Tip() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at
}

// Begin makes the branch at head when there is none. Where an agent of a killed run has moved it, it is put back.
func (g *TipGuard) Begin(ctx context.Context, head string) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.began = time.Now()
	tip, branch, err := g.Trunk.stands(ctx)
	if err != nil {
		return err
	}
	if tip != "" && branch != "" && tip != branch && g.visited(branch, true, time.Time{}) && !g.visited(branch, false, time.Time{}) {
		if behind, err := g.Trunk.Contains(ctx, tip, branch); err == nil && !behind {
			g.at = tip
			if g.strayed, err = g.restore(ctx); err != nil {
				return err
			}
		}
	}
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
	theirs, late, err := g.outside(ctx)
	if err == nil && !theirs {
		theirs, err = g.added(ctx, branch)
	}
	if err != nil {
		return found, err
	}
	if theirs {
		return found, g.take(ctx)
	}
	found.Text = "the branch relay/" + g.Trunk.epic + " was moved; relay put it back"
	if late {
		found.Text = "the branch relay/" + g.Trunk.epic + " was moved, and is checked out in a worktree that was made while agents were at work; relay put it back"
	}
	if branch != "" {
		kept, err := g.keep(ctx, branch)
		if err != nil {
			return found, err
		}
		found.Text += kept
		found.Grave = tip != g.at || g.visited(branch, true, g.began)
	}
	return found, g.put(ctx, g.Trunk.branch(), branch)
}

// added reports whether a person has added a commit to the branch in a checkout of theirs and is elsewhere by now.
func (g *TipGuard) added(ctx context.Context, branch string) (bool, error) {
	beenThere := func(log headLog) bool {
		return !log.own && (log.name == "" || !g.cameLate(log.name)) && has(readLog(log.path, -mostLog), branch, time.Time{}, false)
	}
	if branch == "" || !slices.ContainsFunc(g.headLogs(), beenThere) {
		return false, nil
	}
	return g.Trunk.Contains(ctx, branch, g.at)
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

// preserve is keep for whoever guards other refs.
func (g *TipGuard) preserve(ctx context.Context, commit string) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.keep(ctx, commit)
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

package orchestrator

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync"

	"relay/reanchor"
)

// tipGuard keeps agents from landing their own work: during a run the integration branch is where relay has put it.
// Only a person who has checked it out outside relay's worktrees can add to it meanwhile.
type tipGuard struct {
	trunk *trunk
	dir   string // of relay's worktrees

	mu      sync.Mutex
	at      string // where relay has put it
	strayed string // what was found and put right while something landed: the next one to look is told
}

// tip is the commit that attempts begin from now.
func (g *tipGuard) tip() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at
}

// begin makes the branch at head when there is none.
func (g *tipGuard) begin(ctx context.Context, head string) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at, err = g.trunk.begin(ctx, head)
	return err
}

// step moves the branch on. It reports false when a person has added to it, and there is another tip to begin from.
func (g *tipGuard) step(ctx context.Context, to string) (moved bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	err = g.trunk.advance(ctx, g.at, to)
	if errors.Is(err, errMoved) {
		var strayed string
		if strayed, err = g.restore(ctx); err != nil || strayed == "" {
			return false, err
		}
		g.strayed = strayed
		err = g.trunk.advance(ctx, g.at, to)
	}
	if err == nil {
		g.at = to
	}
	return err == nil, err
}

// mend is restore for whoever does not move the branch.
func (g *tipGuard) mend(ctx context.Context) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	why, err := g.restore(ctx)
	if why == "" {
		why = g.strayed
	}
	if err == nil {
		g.strayed = ""
	}
	return why, err
}

// restore puts the branch back where relay has put it, and says in words what was found; "" when all is well, or when a
// person has added to it: then that is the tip.
func (g *tipGuard) restore(ctx context.Context) (string, error) {
	tip, branch, err := g.trunk.stands(ctx)
	if err != nil || tip == g.at && branch == tip {
		return "", err
	}
	if tip != g.at {
		if err := g.put(ctx, g.trunk.ref(), tip); err != nil {
			return "", err
		}
	}
	if branch == g.at {
		return "relay's own ref " + g.trunk.ref() + " was moved; relay put it back", nil
	}
	outside, err := g.outside(ctx)
	if err != nil {
		return "", err
	}
	if outside {
		g.at, err = g.trunk.tip(ctx)
		return "", err
	}
	why := "the branch relay/" + g.trunk.epic + " was moved; relay put it back"
	if branch != "" {
		kept, err := g.keep(ctx, branch)
		if err != nil {
			return "", err
		}
		why += kept
	}
	return why, g.put(ctx, g.trunk.branch(), branch)
}

// put moves a ref from where it is to where relay had put it. Refs with which an agent has taken its place are kept
// under another name.
func (g *tipGuard) put(ctx context.Context, ref, from string) error {
	moving := g.trunk.move(ctx, move{ref, from, g.at})
	if moving == nil || from != "" {
		return moving
	}
	list, err := g.trunk.git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", ref+"/", path.Dir(ref))
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
		if _, err := g.trunk.git(ctx, nil, "update-ref", "--no-deref", "-d", other, commit); err != nil {
			return err
		}
	}
	return g.trunk.move(ctx, move{ref, from, g.at})
}

// keep gives a commit a ref when the branch does not have it, and says so in words.
func (g *tipGuard) keep(ctx context.Context, commit string) (string, error) {
	if held, err := g.trunk.contains(ctx, g.at, commit); err == nil && held {
		return "", nil
	}
	ref := "refs/relay/" + g.trunk.epic + "-moved/" + commit
	if err := g.trunk.move(ctx, move{ref, "", commit}); err != nil && !errors.Is(err, errMoved) {
		return "", err
	}
	return ", and keeps what was there as " + ref, nil
}

// outside reports whether the branch is checked out in a worktree that is not relay's.
func (g *tipGuard) outside(ctx context.Context) (bool, error) {
	list, err := g.trunk.repo.Run(ctx, reanchor.Call{Args: []string{"worktree", "list", "--porcelain", "-z"}, Wall: heldWall})
	for entry := range strings.SplitSeq(string(list), "\x00\x00") {
		path, rest, _ := strings.Cut(strings.TrimPrefix(entry, "worktree "), "\x00")
		if strings.Contains("\x00"+rest+"\x00", "\x00branch "+g.trunk.branch()+"\x00") && !strings.HasPrefix(path, g.dir+"/") {
			return true, nil
		}
	}
	return false, err
}

package landing

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"relay/orchestrator/trees"
	"relay/orchestrator/words"
	"relay/reanchor"
)

// presence tells the worktrees that were there before agents were at work from those that have come meanwhile, which are
// taken for theirs.
type presence struct {
	atWork int
	there  map[string]bool // by git's own names for them
	late   map[string]bool // as of the time when the last agent was done
}

// Enter begins a time in which an agent's code runs.
func (g *TipGuard) Enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.atWork++; g.atWork == 1 {
		g.there = g.worktrees(func(name string) bool { return !g.late[name] })
	}
}

// Leave ends it.
func (g *TipGuard) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.atWork--; g.atWork == 0 {
		g.late = g.worktrees(func(name string) bool { return !g.there[name] })
	}
}

// worktrees are those for which of says so.
func (g *TipGuard) worktrees(of func(name string) bool) map[string]bool {
	entries, _ := os.ReadDir(filepath.Join(g.Trunk.repo.CommonDir(), "worktrees")) // none: nobody has made one
	found := make(map[string]bool, len(entries))
	for _, e := range entries {
		if of(e.Name()) {
			found[e.Name()] = true
		}
	}
	return found
}

// cameLate reports whether a worktree was made while agents were at work.
func (g *TipGuard) cameLate(name string) bool {
	if g.atWork > 0 {
		return !g.there[name]
	}
	return g.late[name]
}

// madeAt reports whether the worktree in a folder was made while agents were at work.
func (g *TipGuard) madeAt(folder string) bool {
	shared := filepath.Join(g.Trunk.repo.CommonDir(), "worktrees")
	for name := range g.worktrees(g.cameLate) {
		admin := filepath.Join(shared, name)
		if !trees.LeadsBelow(admin, g.Dir) && trees.LeadsBelow(admin, folder) {
			return true
		}
	}
	return false
}

// outside reports whether the branch is checked out in a worktree that is not relay's, and whether that one was made while
// agents were at work.
func (g *TipGuard) outside(ctx context.Context) (theirs, late bool, err error) {
	list, err := g.Trunk.repo.Run(ctx, reanchor.Call{Args: []string{"worktree", "list", "--porcelain", "-z"}, Wall: heldWall})
	for entry := range strings.SplitSeq(string(list), "\x00\x00") {
		path, rest, _ := strings.Cut(strings.TrimPrefix(entry, "worktree "), "\x00")
		if !strings.Contains("\x00"+rest+"\x00", "\x00branch "+g.Trunk.branch()+"\x00") || strings.HasPrefix(path, g.Dir+"/") {
			continue
		}
		if late = g.madeAt(path); !late {
			return true, false, nil
		}
	}
	return false, late, err
}

// tookIn says in words what of a person's has become part of what relay goes by.
func (g *TipGuard) tookIn(ctx context.Context, from, to string) string {
	list, err := g.Trunk.git(ctx, nil, "rev-list", "--max-count=100", from+".."+to)
	if err != nil {
		return ""
	}
	text := words.Count(len(strings.Fields(list)), "commit") + " that relay did not make was taken in on relay/" + g.Trunk.epic + " (git log " + from[:7] + ".." + to[:7] + ")"
	if g.Weigh != nil {
		text += g.Weigh(ctx, from, to)
	}
	return text
}

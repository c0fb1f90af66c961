package landing

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/orchestrator/trees"
	"relay/orchestrator/words"
	"relay/reanchor"
)

// RefGuard keeps the user's branches and tags where the user has put them: an agent that merges its work into main, or
// pushes it there, has landed nothing.
//
// The user goes on working meanwhile, and git does not write down who has moved a ref. What says so is the log of HEAD
// that every worktree has. A ref is put back when it has been moved to a commit that an agent's HEAD has been at and no
// HEAD of the user's, or when the user's checkout is on it and neither its HEAD nor its index knows of the move. What
// is gone is told, with its commit. All else is the user's, and so is all in a repository that keeps no such logs.
type RefGuard struct {
	Tips *TipGuard
	File string // where is written down what it goes by, while the run is on; "": nowhere

	mu     sync.Mutex
	refs   refs
	was    map[string]string // the user's
	seen   map[string]string // when all was looked at last
	agents map[string]bool   // names that agents have made, and that is told
	went   map[string]string // since the run began, and told: not for sure before the attempt's end is on disk
	log    int64             // how long the log of HEAD in the user's checkout was then
	began  time.Time
	pushed map[string]int64 // see Pushes
}

// Begin takes what is there for the user's.
func (g *RefGuard) Begin() (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.began, g.refs.dir = time.Now(), g.trunk().repo.CommonDir()
	g.went, g.agents = make(map[string]string), make(map[string]bool)
	g.log = logLength(g.homeLog())
	g.pushed = g.pushLogs()
	if g.was, err = g.refs.read(); err != nil {
		return err
	}
	g.seen = g.was
	return g.jot()
}

// known is what a guard goes by.
type known struct {
	Refs  map[string]string
	Log   int64
	Began time.Time
}

func (g *RefGuard) jot() error {
	if g.File == "" {
		return nil
	}
	refs := maps.Clone(g.was)
	for name, commit := range g.went {
		if _, back := refs[name]; !back {
			refs[name] = commit
		}
	}
	return trees.Jot(g.File, known{refs, g.log, g.began})
}

// Resume is Mend for a run that was killed before it could look.
func (g *RefGuard) Resume(ctx context.Context) ([]trees.Meddling, error) {
	var k known
	if !trees.Jotted(g.File, &k) {
		return nil, nil
	}
	g.mu.Lock()
	g.was, g.log, g.began, g.refs.dir = k.Refs, k.Log, k.Began, g.trunk().repo.CommonDir()
	g.went, g.agents = make(map[string]string), make(map[string]bool)
	g.mu.Unlock()
	return g.Mend(ctx)
}

func (g *RefGuard) trunk() *Trunk { return g.Tips.Trunk }

func (g *RefGuard) homeLog() string { return filepath.Join(g.trunk().repo.GitDir(), "logs", "HEAD") }

// Mend puts back what agents have moved since it was last asked, and says in words what it found. When nothing has
// changed, it asks no git.
func (g *RefGuard) Mend(ctx context.Context) ([]trees.Meddling, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	length := logLength(g.homeLog()) // before the refs: git writes the log first
	now, err := g.refs.read()
	if err != nil || g.was == nil || maps.Equal(now, g.seen) {
		return nil, err
	}
	l := look{RefGuard: g, now: now, on: "refs/heads/" + g.branch(ctx)}
	for _, name := range slices.Sorted(maps.Keys(g.was)) {
		switch at := now[name]; {
		case at == g.was[name]:
		case at == "":
			err = errors.Join(err, l.gone(ctx, name))
		default:
			err = errors.Join(err, l.moved(ctx, name, at))
		}
	}
	g.seen = maps.Clone(now)
	l.made(ctx)
	g.was, g.log = now, length
	return l.found, errors.Join(err, g.jot())
}

// branch is what the user's checkout is on.
func (g *RefGuard) branch(ctx context.Context) string {
	name, err := g.trunk().repo.Branch(ctx)
	if err != nil {
		return ""
	}
	return name
}

// look is one comparison. What it puts back it puts back in now, too.
type look struct {
	*RefGuard
	now   map[string]string
	on    string // the branch the user's checkout is on
	found []trees.Meddling
}

// moved puts a ref back that an agent has moved.
func (l *look) moved(ctx context.Context, name, at string) error {
	if !l.byAgent(ctx, at) && !l.behind(ctx, name, at) {
		return nil
	}
	kept, err := l.Tips.preserve(ctx, at)
	if err != nil {
		return err
	}
	if err := l.trunk().move(ctx, move{name, at, l.was[name]}); err != nil {
		if errors.Is(err, errMoved) {
			l.now[name] = l.was[name] // somebody goes on with it: the next look says who
			return nil
		}
		return err
	}
	l.now[name] = l.was[name]
	l.found = append(l.found, trees.Meddling{Text: called(name) + " was moved by an agent; relay put it back" + kept, Grave: true})
	return nil
}

// byAgent reports whether a commit is one that agents have been at, and neither landed nor where the user has been.
func (g *RefGuard) byAgent(ctx context.Context, commit string) bool {
	if !g.Tips.visited(commit, true, g.began) || g.Tips.visited(commit, false, time.Time{}) {
		return false
	}
	landed, err := g.trunk().Contains(ctx, g.Tips.Tip(), commit)
	return err == nil && !landed
}

// behind reports whether the branch that the user's checkout is on was moved behind its back: its HEAD has not seen the
// move, and its index is not of that commit.
func (l *look) behind(ctx context.Context, name, at string) bool {
	if name != l.on || l.log < 0 {
		return false
	}
	log := readLog(l.homeLog(), l.log)
	if logLength(l.homeLog()) < l.log {
		log = readLog(l.homeLog(), -mostLog) // it was cut
	}
	if has(log, at, time.Time{}, false) {
		return false
	}
	_, err := l.trunk().repo.Run(ctx, reanchor.Call{Args: []string{"diff-index", "--cached", "--quiet", at, "--"}})
	var said *reanchor.GitError
	return errors.As(err, &said) && said.Code == 1
}

// gone tells of a ref that is there no more: whose doing that was, nobody can say. Its commits stay reachable.
func (l *look) gone(ctx context.Context, name string) error {
	commit := l.was[name]
	for other, at := range l.now {
		if _, known := l.was[other]; at == commit && !known && l.renamed(name, other) {
			return nil
		}
	}
	if now, err := l.trunk().repo.Ref(ctx, name); err != nil || now != "" {
		return err
	}
	held, err := l.trunk().git(ctx, nil, "for-each-ref", "--count=1", "--contains="+commit, "--format=x")
	if err == nil && held == "" {
		_, err = l.Tips.preserve(ctx, commit)
	}
	l.went[name] = commit
	kind, short, _ := strings.Cut(strings.TrimPrefix(name, "refs/"), "/")
	again := map[string]string{"heads": "git branch ", "tags": "git tag "}[kind] + words.ShellWord(short) + " " + commit
	l.found = append(l.found, trees.Meddling{Text: called(name) + " was deleted during the attempt; if that was not you: " + again})
	return err
}

// renamed reports whether the log of a branch says that it had another name.
func (l *look) renamed(name, now string) bool {
	log := readLog(filepath.Join(l.refs.dir, "logs", filepath.FromSlash(now)), -mostLog)
	return bytes.Contains(log, []byte("\tBranch: renamed "+name+" to "+now+"\n"))
}

// made tells of branches and tags that agents have made for themselves, once: what they do with them further is theirs to do.
func (l *look) made(ctx context.Context) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(l.now)) {
		if _, known := l.was[name]; known {
			continue
		}
		switch {
		case l.agents[name], l.Tips.entered(name, true) && !l.Tips.entered(name, false) && !l.byAgent(ctx, l.now[name]):
		case l.byAgent(ctx, l.now[name]):
			names = append(names, called(name))
			l.agents[name] = true
		default:
			continue
		}
		delete(l.now, name)
	}
	if len(names) > 0 {
		l.found = append(l.found, trees.Meddling{Text: "an agent has made " + words.Listed(names) + ": that stays, and relay does not land it"})
	}
}

// called is a ref as people name it.
func called(name string) string {
	if short, tag := strings.CutPrefix(name, "refs/tags/"); tag {
		return "the tag " + short
	}
	return "the branch " + strings.TrimPrefix(name, "refs/heads/")
}

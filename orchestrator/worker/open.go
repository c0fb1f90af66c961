// Package worker carries attempts out on this machine: it sets up the checkout an agent works in, runs the agent, tests what it made by
// evidence (checks, reviewers), and leaves the work where the merge queue or the user's branch takes it.
//
// At the end of an attempt relay commits what the agent left, but for changes of protected files, and for untracked files that
// neither the task nor the agent names beside the agent's own commits: these are kept under a ref. An agent that ended well without
// a result is asked for it once, or judged by its task's checks. Work that lacks only a review waits in the ledger, not in a slot: a later
// attempt begins with the review, goes before new work, and until then new work is bounded. Work that was stopped through no
// fault of its agent is put back for the next attempt. A failed attempt is kept as refs/relay/EPIC/TASK/N and changes.patch; what
// that ref pointed to before, for another ledger of the same epic id, stays reachable as refs/relay-moved/COMMIT.
//
// With isolation none and shared agents work in the user's own checkout, where nothing prevents what an agent does. With
// worktrees a copy (refs/relay-checkout/EPIC/RUN) has what was not committed there when the run began. The end of the run notes what
// differs, with the command that brings it back: the user may have worked there too.
package worker

import (
	"cmp"
	"context"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/guard"
	"relay/orchestrator/provision"
	"relay/reanchor"
	"relay/reanchor/git"
)

// Local is the engine of this machine.
type Local struct {
	engine.Abilities
	run   *workspace
	user  *userEngine    // nil with IsolationWorktree
	slots *slotLifecycle // nil without
}

// SetLedger says where what must outlive relay is kept, and the hold on the epic that agents must not break; lock may be nil.
func (l *Local) SetLedger(ledger engine.Ledger, lock engine.Lock) {
	l.run.ledger, l.run.guard.Ledger, l.run.guard.Lock = ledger, ledger, lock
}

func inCheckout(e *userEngine) *Local {
	after := userEpilogue(e)
	return &Local{run: e.run, user: e, Abilities: engine.Abilities{Engine: e, Lifecycle: e, Rechecker: after, Reviewer: after}}
}

func inSlots(s *slotEngine) *Local {
	l := &slotLifecycle{s: s}
	after := slotEpilogue(l)
	return &Local{run: s.run, slots: l, Abilities: engine.Abilities{
		Engine: s, Merger: s.merger, Lifecycle: l, Follower: l, Rechecker: after, Reviewer: after,
		Lost: l.Lost, AskFirst: func(may func(ctx context.Context, a engine.Attempt) string) { s.mayAsk = may },
	}}
}

// Open looks at the repository and refuses what no attempt could work in.
func Open(ctx context.Context, o *engine.LocalOptions, events chan<- engine.Event) (*Local, error) {
	g := &workspace{o: o, home: o.Repo.Within(o.Env), events: events, now: time.Now}
	var err error
	if g.guard, err = guard.New(ctx, o, g.home); err != nil {
		return nil, err
	}
	g.checks = &checks.Runner{
		Options: o, Home: g.home, Emit: g.events.Emit, Now: func() time.Time { return g.now() }, Began: g.now(),
		Env: g.guard.CommandEnv,
	}
	c := &checkout{run: g, repo: g.home, config: provision.SteeringDigest(g.home.Root())}
	age := time.Duration(0) // of the state of the checkout in a brief, at most
	if o.Isolation == engine.IsolationShared {
		age = time.Second // side by side, tasks change it all the time anyway
	}
	c.facts = git.NewCached(g.home, reanchor.RecentCommits, age, time.Now)
	user := &userEngine{run: g, c: c, known: checks.NewCache()}
	if o.Isolation == engine.IsolationShared {
		if len(o.Review.Reviewers) > 0 {
			return nil, engine.ErrSharedReview
		}
		return inCheckout(user), nil
	}
	branch, err := g.home.Branch(ctx)
	if err != nil {
		return nil, err
	}
	head, err := g.home.Head(ctx)
	switch {
	case err != nil:
		return nil, err
	case head == "":
		return nil, &attempts.RefusedError{Reason: "this repository has no commit yet, so there is nothing to begin from", Hint: "git add -A && git commit --allow-empty -m Begin"}
	}
	g.trusted = head
	if o.Isolation == engine.IsolationWorktree {
		g.origin = attempts.Integration{Branch: "relay/" + o.Epic.ID, From: branch, Base: cmp.Or(o.Begin, head)}
		return inSlots(newSlotEngine(g, taken(ctx, g.home, branch, head))), nil
	}
	if branch == "" {
		return nil, &attempts.RefusedError{Reason: "HEAD is detached: commits would belong to no branch", Hint: "git switch -c NAME"}
	}
	c.tree = &worktree.Tree{Repo: g.home, Branch: "refs/heads/" + branch, Records: &worktree.RecordsApart{Repo: g.home}}
	c.tree.User.Also = func(p string) bool { return worktree.OwnRecordFile(g.home.Root(), p) }
	return inCheckout(user), nil
}

// taken returns the newest commit whose content a person has taken: head, or, if relay made its branch or it has none, what it has in
// common with other branches. It returns "" if there is none, or git does not tell.
func taken(ctx context.Context, repo *git.Repo, branch, head string) string {
	if branch != "" && !strings.HasPrefix(branch, "relay/") && !strings.HasPrefix(branch, git.TaskBranches) {
		return head
	}
	out, err := repo.Run(ctx, git.Call{Limit: git.MaxPrinted, Args: []string{
		"rev-list", "--boundary", head, "--not", "--exclude=relay/*", "--exclude=" + git.TaskBranches + "*", "--branches",
		"--exclude=*/relay/*", "--exclude=*/" + git.TaskBranches + "*", "--remotes",
	}})
	if err == nil && len(out) == 0 {
		return head
	}
	_, common, _ := strings.Cut(string(out), "\n-")
	return strings.Split(common, "\n")[0]
}

// Package bench runs lists of checks in clean checkouts, set up like those of agents, or in the user's, and tests whether a run could
// begin.
//
// bench.go runs acceptance checks on commits, in clean checkouts that are set up as those of agents are, or in the user's checkout. It
// observes and classifies: what a result means is for package verdict.
//
// precheck.go tells, without a run, what a run would meet: whether it may begin, and how the checks do on what it begins from.
package bench

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"relay/attempts"
	"relay/epic/pattern"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/provision"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/sandbox"
)

// Benches runs checks in clean checkouts of a commit. It does not repeat checks whose result on a tree is known.
type Benches struct {
	Checks  *checks.Runner
	Pool    *slot.Pool
	Slots   *slot.Names
	Files   *provision.Files // of the user's checkout, which slots get
	Tools   *provision.ConfigWatch
	Env     func(a engine.Attempt, ofEpic bool) []string // of set-up commands
	Results *checks.Cache
	Mine    string       // the newest commit below the checkout's that is the user's; "": each may have work of agents
	refused sync.Map     // by command: what refuses has found
	trying  sync.Mutex   // one trial at a time
	Busy    atomic.Int32 // attempts, and slots in which checks run
}

// Quiet reports whether no attempt but one is at work, and no checks but its own.
func (b *Benches) Quiet() bool { return b.Busy.Load() <= 2 } // the attempt, and its bench

// Ask runs checks, one after another, and makes no checkout when all is known.
func (b *Benches) Ask(ctx context.Context, q checks.Question, tr *Trouble, visit checks.Visit) error {
	return b.asker().Ask(ctx, q, tr, visit)
}

func (b *Benches) asker() *Asker {
	room := func(q checks.Question) Room { return &slotBench{b: b, q: q} }
	return &Asker{Checks: b.Checks, Results: b.Results, Room: room, Trials: b}
}

// Again asks a check of the epic again what it says of the commit that a work is put on, when it fails on the work.
func (b *Benches) Again(
	ctx context.Context, q checks.Question, check checks.Check, before checks.Result, tr *Trouble,
) (checks.Result, error) {
	if before.Twice || !before.Red() && !before.Passed() {
		return before, nil
	}
	tree, err := b.Checks.Home.Tree(ctx, q.Commit)
	if err != nil {
		return before, err
	}
	q.Anew, q.Checks = true, checks.List(nil, b.Checks.Options.Epic.Checks)
	key := q.Key(b.Checks, tree, "")
	q.Checks = checks.On(checks.OnAgain, q.Checks[:check.Index+1])
	passed := before.Passed()
	err = b.Ask(ctx, q, tr, func(one checks.Check, again checks.Result) (bool, error) {
		if one.Index == check.Index {
			before = again
			before.Twice = again.Red() && !passed
			b.Results.Correct(key, check.Index, again)
		}
		return true, nil
	})
	if err == nil && !tr.Any() && passed && !before.Passed() {
		tr.Offline = b.Checks.Why(check, before) + " on " + q.Commit[:min(12, len(q.Commit))] + " too, where it has passed before: nothing is known of the work"
	}
	return before, err
}

// slotBench is a clean checkout of a commit to run a list of checks in.
type slotBench struct {
	b    *Benches
	q    checks.Question
	name string
	dir  string
}

// Enter makes the checkout. Where it cannot be set up, it sees whether the set-up succeeds without the work.
func (s *slotBench) Enter(ctx context.Context, tr *Trouble) (at checks.Location, err error) {
	s.name, _ = s.b.Slots.Take(slot.ForBench)
	s.b.Busy.Add(1)
	if err := s.fill(ctx); err != nil {
		return at, err
	}
	at = checks.Location{Attempt: s.q.Attempt, Logs: s.q.Logs, Dir: s.dir, Allow: s.q.Allow}
	if len(s.q.Lay) == 0 && !s.q.Bare {
		at.Commit = s.q.Commit
	}
	at.Env = func(env []string) []string { return Env(s.b.Checks.Options, at.Dir, env) }
	if err := s.b.Provision(ctx, at, s.fill, s.q.OfEpic(), tr); err != nil || tr.SetUp == "" || s.q.From == "" {
		return at, err
	}
	without := slotBench{b: s.b, q: s.q}
	without.q.Commit, without.q.From, without.q.Bare, without.q.Logs = s.q.From, "", true, filepath.Join(s.q.Logs, "without")
	var alone Trouble
	_, err = without.Enter(ctx, &alone)
	if err = errors.Join(err, without.Leave(ctx)); err != nil || alone.Any() {
		return at, err
	}
	tr.ByWork, tr.Refused = true, ""
	for i := range tr.Runs {
		tr.Runs[i].Phase, tr.Runs[i].Attribution = attempts.PhaseTask, attempts.BrokenByTask
	}
	return at, nil
}

// fill puts nothing but the question's files into the checkout.
func (s *slotBench) fill(ctx context.Context) error {
	repo, err := s.b.Pool.Acquire(ctx, s.name, s.q.Commit, "")
	if err != nil {
		return err
	}
	if err := (&worktree.Tree{Repo: repo}).Lay(ctx, s.q.LayFrom, s.q.Lay); err != nil {
		return err
	}
	s.dir = repo.Root()
	return emptied(s.dir, s.q.Empty)
}

// PutBack puts protected files back.
func (s *slotBench) PutBack(ctx context.Context, _ checks.Check, tr *Trouble) ([]string, error) {
	patterns := s.q.Protected(s.b.Checks.Options.Epic)
	if len(patterns) == 0 {
		return nil, nil
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	changed, err := s.b.Pool.Undo(ctx, s.name, func(path string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return pattern.Covers(glob, path) })
	})
	if errors.Is(err, slot.ErrSpoiled) {
		tr.Spoiled = true
		return nil, nil
	}
	return changed, err
}

// Rewritten returns what the checks have rewritten. A checkout whose git data they have changed proves nothing of that.
func (s *slotBench) Rewritten(ctx context.Context) ([]checks.Rewritten, error) {
	takes := s.q.Takes
	if takes == nil {
		takes = checks.IsLock
	}
	names, err := slot.Rewritten(ctx, s.b.Pool, s.name, takes)
	if err != nil || len(names) == 0 {
		return nil, git.Unasked(err)
	}
	return checks.ReadRewritten(s.dir, names, takes)
}

// Leave frees the slot. On a full disk it removes it: checks may have filled it.
func (s *slotBench) Leave(ctx context.Context) error {
	if s.name != "" {
		if _, full := runners.IsFull(s.dir, s.b.Checks.Options.Limits.DiskFloor); full {
			_ = s.b.Pool.Remove(ctx, s.name) // the run removes what stays at its end
		}
		s.b.Slots.Release(s.name)
		s.b.Busy.Add(-1)
		s.name = ""
	}
	return nil
}

// Provision makes a fresh slot ready for work: it puts the untracked files there that are configured and runs the set-up commands. When
// one of these fails, the set-up is repeated, as what it fetches may be out of reach for a moment, in the slot as refill makes it again:
// what a failed command left there does not decide. No agent can be blamed for what would follow a failure.
func (b *Benches) Provision(
	ctx context.Context, at checks.Location, refill func(context.Context) error, ofEpic bool, tr *Trouble,
) error {
	if len(b.Checks.Options.Worktree.Setup) == 0 {
		return b.put(ctx, at, tr)
	}
	if known, ok := b.refused.Load(sandbox.Logins); ok && at.Allow == nil {
		*tr = known.(Trouble)
		return nil
	}
	role := sandbox.SetUpFor
	if at.Commit != "" && at.Commit == b.Mine {
		role = sandbox.SetUp
	}
	s := setUp{Benches: b, at: at, ofEpic: ofEpic, role: role, tr: tr}
	return b.Tools.RunForUser(func() error { return s.repeated(ctx, refill) })
}

// Slot returns what makes a slot again: see [slot.Pool.Acquire].
func (b *Benches) Slot(name, commit, branch string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := b.Pool.Acquire(ctx, name, commit, branch)
		return err
	}
}

// put puts the configured untracked files into a slot.
func (b *Benches) put(ctx context.Context, at checks.Location, tr *Trouble) (err error) {
	if b.Files.Configured() {
		tr.SetUp, err = b.Files.Put(ctx, at.Dir)
	}
	return err
}

// Env returns the environment of a program in the slot at dir; see [slot.Env].
func Env(o *engine.LocalOptions, dir string, env []string) []string {
	return slot.Env(dir, slot.Checkout{Root: o.Root, Python: o.Worktree.Python}, env)
}

// First makes the first checkout of a run: what git cannot do in it, it can do in none, and no attempt is begun for that.
func (b *Benches) First(ctx context.Context, commit string) error {
	name, _ := b.Slots.Take(slot.ForBench)
	defer b.Slots.Release(name)
	_, err := b.Pool.Acquire(ctx, name, commit, "")
	if err != nil && ctx.Err() == nil { // another git may have been at work beside it
		_, err = b.Pool.Acquire(ctx, name, commit, "")
	}
	if git.Refused(ctx, err) {
		err = &attempts.RefusedError{
			Reason: "git cannot make a worktree of this repository: " + err.Error(),
			Hint:   "git fsck and df say more; mend that, then relay work, or set relay.isolation: none",
		}
	}
	return err
}

// Review gives a reviewer a clean checkout of a commit.
func (b *Benches) Review(ctx context.Context, head string) (*git.Repo, func(), error) {
	name, _ := b.Slots.Take(slot.ForReview)
	repo, err := b.Pool.Acquire(ctx, name, head, "")
	return repo, func() { b.Slots.Release(name) }, err
}

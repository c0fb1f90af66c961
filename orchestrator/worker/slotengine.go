package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"relay/attempts"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/git/taskbranch"
	"relay/orchestrator/text"
	"relay/orchestrator/usercheckout"
	"relay/orchestrator/worker/merge"
	"relay/orchestrator/worker/provision"
	"relay/reanchor"
	"relay/runners"
)

// slotEngine is the [engine.Engine] that gives each task a repository of its own (a slot) and lands what they make on the epic's
// integration branch. The user's checkout is not touched. A slot is used for one task after another: to make one costs seconds in a
// large repository.
type slotEngine struct {
	*workspace
	pool     *slot.Pool
	slots    *slotNames
	files    *provision.Files // of the user's checkout, which slots get
	branches *taskbranch.Set

	integration *integration.Branch
	headGuard   *integration.TipGuard   // of the head of integration
	ledgerView  *integration.LedgerView // of integration; nil: nobody has asked
	from        string                  // where the integration branch ended when the run began
	merger      *merge.Merger

	results      *checks.Cache
	userCheckout *usercheckout.Watch                                      // nil: there is no copy of it
	mayAsk       func(ctx context.Context, a engine.Attempt) (why string) // nil: always

	hookBroken atomic.Bool  // the pre-commit hook fails where nothing has changed, as far as is known
	busy       atomic.Int32 // attempts, and slots in which checks run
	stay       []string     // in words: what stays when the run ends, besides slots and branches
}

func newSlotEngine(g *workspace) *slotEngine {
	pool := &slot.Pool{Repo: g.home, Dir: g.o.Worktree.Dir}
	branch := integration.NewBranch(g.home, g.o.Epic.ID, g.o.Landing)
	if g.o.Sign {
		branch.Sign()
	}
	guard := &integration.TipGuard{Branch: branch, Describe: g.notableChanges}
	s := &slotEngine{
		workspace: g, pool: pool, integration: branch, headGuard: guard, files: provision.New(g.home, g.o),
		results: checks.NewCache(), slots: newSlotNames(pool),
		branches: &taskbranch.Set{Repo: g.home, Epic: g.o.Epic.ID, Slots: g.o.Worktree.Dir},
	}
	s.merger = &merge.Merger{
		Home: g.home, Options: g.o, Branch: branch, Guard: guard, Config: g.rules, Tasks: s.branches, Work: mergeWork{s},
	}
	return s
}

// alone reports whether only one attempt is under way, and no checks of others: then what was found just now is its doing.
func (s *slotEngine) alone() bool { return s.busy.Load() <= 1 }

// Prepare returns the head of the integration branch, from which the attempt begins. Work that only waits for its review
// stays where it was done: the reviewers who have read it are not asked again because others have landed.
func (s *slotEngine) Prepare(ctx context.Context, a engine.Attempt) (string, error) {
	tip := s.headGuard.Tip()
	if before := a.Previous.Base; before != "" && a.Previous.AwaitsReview() {
		held, err := s.integration.Contains(ctx, tip, before)
		if held {
			return before, nil
		}
		return tip, gitcmd.Unasked(err)
	}
	return tip, nil
}

// Run runs an attempt in one slot and its checks in others. A success is left on the task's branch.
func (s *slotEngine) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	s.busy.Add(1)
	defer s.busy.Add(-1)
	f, err := s.attempt(ctx, a)
	if err != nil {
		f, err = abandoner{s}.contain(ctx, a, f, err)
	}
	return f.Result, err
}

func (s *slotEngine) attempt(ctx context.Context, a engine.Attempt) (state, error) {
	before, err := s.freeBranch(ctx, a)
	if err != nil || before.Outcome != attempts.Success {
		return before, err
	}
	w, err := s.open(ctx, a)
	if err != nil {
		return state{}, err
	}
	f, err := w.attempt().run(ctx)
	if err != nil {
		return f, err
	}
	f.Notes = append(before.Notes, f.Notes...)
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	if err := w.wrapUp(ctx, &f); err != nil {
		return f, err
	}
	if err := w.release(ctx, &f); err != nil { // last: from now on it is another task's
		return f, err
	}
	if f.Outcome == attempts.Success {
		return f, nil // its branch stays until it has landed
	}
	return f, s.branches.Drop(ctx, s.branch(a), text.FirstOf(f.Head, a.Base))
}

// open returns an attempt in a slot at its base and on its branch. An attempt of a killed run gets its own slot again, as it was
// left.
func (s *slotEngine) open(ctx context.Context, a engine.Attempt) (*slotAttempt, error) {
	if a.Ended {
		return s.reopen(ctx, a)
	}
	name, err := s.slots.takeEmpty(ctx, attemptSlot)
	if err != nil {
		return nil, err
	}
	if err := s.recordSlot(a, slotFile, name); err != nil {
		return nil, err
	}
	repo, err := s.pool.Acquire(ctx, name, a.Base, s.branch(a))
	if err != nil {
		return nil, err
	}
	return s.attemptIn(name, repo, a), nil
}

// reopen returns an attempt of a killed run in its own slot, if it had not released it; else in another one at the head of its
// branch.
func (s *slotEngine) reopen(ctx context.Context, a engine.Attempt) (*slotAttempt, error) {
	p := filesOf(s.o.Dir, a)
	name, ok := p.slot()
	switch {
	case ok && !p.ready():
		// No agent has been there: relay was killed while it made the slot ready, and it may be half a checkout.
		if err := s.pool.Remove(ctx, name); err != nil {
			return nil, err
		}
	case ok:
		repo, own, err := s.openLeft(ctx, name, a)
		if err != nil {
			return nil, err
		}
		if own {
			return s.attemptIn(name, repo, a), nil
		}
	}
	head, err := s.home.Ref(ctx, "refs/heads/"+s.branch(a))
	if err != nil {
		return nil, err
	}
	if head != "" && !gitcmd.Has(ctx, s.home, head) { // see [slotAttempt.judge]
		head = ""
	}
	return s.recover(ctx, a, text.FirstOf(head, a.Base))
}

// openLeft opens the slot that an attempt of a killed run had. own is false when it is gone, or is another task's by now. Any other
// error is no reason to judge the attempt by an empty slot: its work may stand there.
func (s *slotEngine) openLeft(ctx context.Context, name string, a engine.Attempt) (repo *reanchor.Git, own bool, err error) {
	repo, _, err = s.pool.Open(ctx, name, a.Base, s.branch(a))
	if errors.Is(err, slot.ErrGone) {
		return nil, false, nil
	}
	on := ""
	if err == nil {
		on, err = repo.Branch(ctx) // whatever branch its agent was on, but another task's
	}
	if err != nil {
		return nil, false, &unreadableSlotError{err}
	}
	return repo, on == s.branch(a) || !strings.HasPrefix(on, gitcmd.TaskBranches), nil
}

// recover makes another slot for an attempt whose own is lost. One that was cut short while it was made is removed: there is nothing
// in it but a part of the commit.
func (s *slotEngine) recover(ctx context.Context, a engine.Attempt, head string) (*slotAttempt, error) {
	making := filepath.Join(filesOf(s.o.Dir, a).folder, makingFile)
	if noted, err := runners.ReadResultFile(making); err == nil {
		if name := strings.TrimSpace(string(noted)); strings.HasPrefix(name, recoverySlot) {
			if err := s.pool.Remove(ctx, name); err != nil {
				return nil, err
			}
		}
	}
	name, err := s.slots.takeEmpty(ctx, recoverySlot)
	if err != nil {
		return nil, err
	}
	if err := s.recordSlot(a, makingFile, name); err != nil {
		return nil, err
	}
	repo, err := s.pool.Acquire(ctx, name, head, s.branch(a))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Remove(making), s.recordSlot(a, slotFile, name)); err != nil {
		return nil, err
	}
	return s.attemptIn(name, repo, a), nil
}

// branch returns the branch that has a task's commits until they land.
func (s *slotEngine) branch(a engine.Attempt) string { return s.branches.Name(a.Task.ID) }

// freeBranch makes sure that a new attempt may have its task's branch. What a person has committed there is kept; a branch that a
// person has checked out is not moved, and the attempt fails.
func (s *slotEngine) freeBranch(ctx context.Context, a engine.Attempt) (f state, err error) {
	f.Outcome = attempts.Success
	if a.Ended {
		return f, nil
	}
	name := s.branch(a)
	at, unkept, err := s.branches.Blocked(ctx, name)
	switch {
	case err != nil:
		return f, err
	case at != "":
		f.Gate = attempts.Infrastructure
		f.Fail(attempts.Environment, attempts.CLIError, "the branch "+name+" is checked out in "+at+"; git switch to another one there")
	case unkept != "":
		ref := "refs/relay/" + s.o.Epic.ID + "-moved/" + unkept
		f.Note("salvage", "what was on the branch "+name+" and in no other is kept as "+ref)
		return f, s.attemptIn("", s.home, a).c.tree.Keep(ctx, ref, unkept)
	}
	return f, nil
}

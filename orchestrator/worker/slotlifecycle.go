package worker

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/guard"
	"relay/orchestrator/merge"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// slotLifecycle is the [engine.Lifecycle] and the [engine.Follower] of the slot engine: what it does before the first attempt of a run
// and after the last.
type slotLifecycle struct {
	s          *slotEngine
	ledgerView *integration.LedgerView // of the integration branch; nil: it was not read, or is this run's by now
	from       string                  // where the integration branch ended when the run began
	users      *guard.UserCheckout     // nil: relay has no copy of it
	stay       []string                // in words: what stays when the run ends, besides slots and branches
}

// Origin returns what attempts land on.
func (l *slotLifecycle) Origin() attempts.Integration { return l.s.run.origin }

// Tip returns the commit that the work is collected on, with what a person has committed on the branch.
func (l *slotLifecycle) Tip(ctx context.Context) (string, error) {
	tip, err := l.s.integration.Tip(ctx)
	return cmp.Or(tip, l.s.run.origin.Base), err
}

// Asked reports whether an agent or a reviewer was asked in an attempt of a killed run.
func (l *slotLifecycle) Asked(a engine.Attempt) bool { return relayfiles.Of(l.s.run.o.Dir, a).Used() }

// Admit refuses a run that cannot work as things are, and an integration branch that is not this epic's.
func (l *slotLifecycle) Admit(ctx context.Context, ledger *attempts.Ledger, open []engine.Attempt) error {
	view := relayfiles.LedgerViewOf(ledger, l.s.run.o.Dir)
	l.ledgerView = &view
	if err := (integration.History{Branch: l.s.integration, Ledger: view, Head: l.s.run.origin.Base}).RefuseForeign(ctx); err != nil {
		return err
	}
	here, err := bench.RefuseOtherIsolation(ctx, l.s.run.o, ledger, open)
	if err != nil || here {
		return err
	}
	return l.CheckReady(ctx)
}

// CheckReady refuses a repository or a folder in which slots cannot be made. Uncommitted changes in the user's checkout stay
// untouched.
func (l *slotLifecycle) CheckReady(ctx context.Context) error {
	if err := slot.CheckRepository(ctx, l.s.run.home); err != nil {
		return err
	}
	return slot.CheckFolder(l.s.run.o.Worktree.Dir)
}

// Awake makes the integration branch when the epic has none yet, at the commit of the run's options or of the user's checkout.
func (l *slotLifecycle) Awake(ctx context.Context) error {
	landed := l.ledgerView == nil || len(l.ledgerView.Landed)+len(l.ledgerView.Landing) > 0
	if l.ledgerView != nil {
		if err := (integration.History{Branch: l.s.integration, Ledger: *l.ledgerView, Head: l.s.run.origin.Base}).RestoreRef(ctx); err != nil {
			return err
		}
		l.ledgerView = nil
	}
	err := errors.Join(l.s.run.guard.KeepIgnore(), l.s.headGuard.Begin(ctx, l.s.run.origin.Base))
	if err == nil && !landed { // an earlier epic of that id may have left the branch
		_, err = l.s.headGuard.Forward(ctx, l.s.run.o.Begin)
	}
	if err == nil {
		err = l.compareSteering(ctx)
	}
	l.from = cmp.Or(l.from, l.s.headGuard.Tip())
	return err
}

// Follow adds to the integration branch what it lacks of the branch that the epic began from. The run begins there.
func (l *slotLifecycle) Follow(ctx context.Context, from string) (tip string, notes []attempts.Note, err error) {
	notes, err = merge.Follow(ctx, l.s.merger, from)
	if l.from = l.s.headGuard.Tip(); err == nil {
		l.s.run.landedSteering.Store(false)
		err = l.compareSteering(ctx)
	}
	return l.from, notes, err
}

// compareSteering looks whether earlier runs have landed a change of agents' configuration that the user's branch lacks.
func (l *slotLifecycle) compareSteering(ctx context.Context) error {
	tip := l.s.headGuard.Tip()
	if tip == "" || tip == l.s.run.trusted {
		return nil
	}
	return l.s.run.home.EachName(ctx, l.s.run.trusted, tip, func(n git.Change) error {
		l.s.run.recordSteering([]string{n.Path, n.From})
		return nil
	})
}

// Begin makes all ready for the first attempt: the integration branch, the files that slots get, and a copy of the
// user's checkout. Without one the run continues, and says so when it ends.
func (l *slotLifecycle) Begin(ctx context.Context) error {
	if err := l.Awake(ctx); err != nil { // nothing is begun that the next run would have to look at
		return err
	}
	if err := errors.Join(l.s.benches.First(ctx, l.s.headGuard.Tip()), l.excludeProvisioned(ctx)); err != nil {
		return err
	}
	g := l.s.run
	users, warning := guard.CopyCheckout(ctx, g.home, "refs/relay-checkout/"+g.o.Epic.ID+"/"+g.o.Run, filepath.Join(g.o.Dir, "user-index"))
	if l.users = users; warning != "" {
		l.stay = append(l.stay, warning)
	}
	return nil
}

// Lost lists what the user's repository and checkout no longer have of what they had when the run began.
func (l *slotLifecycle) Lost(ctx context.Context) ([]attempts.Note, error) {
	if l.users == nil {
		return nil, nil
	}
	return l.users.Lost(ctx)
}

// excludesName lists, below a run's folder, what agents' git ignores.
const excludesName = "excludes"

// excludeProvisioned has agents' git ignore the files that slots get.
func (l *slotLifecycle) excludeProvisioned(ctx context.Context) error {
	if !l.s.benches.Files.Configured() {
		return nil
	}
	l.s.run.excludes = filepath.Join(l.s.run.o.Dir, "runs", l.s.run.o.Run, excludesName)
	return l.s.benches.Files.WriteExcludes(ctx, l.s.run.excludes)
}

// Resume returns how an attempt ended that a killed run left open, if its landing was recorded and has been made; else nil.
func (l *slotLifecycle) Resume(ctx context.Context, a engine.Attempt, open attempts.Attempt) (*attempts.Ended, error) {
	if open.Landing == nil {
		return nil, nil
	}
	if landed, err := l.s.integration.Holds(ctx, open.Landing.Landed); err != nil || !landed {
		return nil, err
	}
	return open.Landing, l.s.branches.Drop(ctx, l.s.branch(a), open.Landing.Head)
}

// Reserve keeps the slot of an attempt of a killed run from being given to others before it is reopened.
func (l *slotLifecycle) Reserve(a engine.Attempt) {
	if name, ok := relayfiles.Of(l.s.run.o.Dir, a).Slot(); ok {
		l.s.slots.Reserve(name)
	}
}

// Close removes the slots: everything in them has landed, or is kept elsewhere. It returns in words what stays, and why.
func (l *slotLifecycle) Close(ctx context.Context) ([]string, error) {
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	var forgetting error
	if l.users != nil {
		forgetting = l.users.Close(ctx)
	}
	stay, err := l.removeSlots(ctx)
	return stay, errors.Join(err, forgetting, l.s.pool.Close(), l.s.integration.Unpin(ctx))
}

// removeSlots removes the slots but for what is nowhere else, and says what stays.
func (l *slotLifecycle) removeSlots(ctx context.Context) (stay []string, err error) {
	kept, err := slot.Clear(ctx, l.s.pool)
	stay = slices.Concat(l.stay, l.s.branches.Stay())
	for _, k := range kept {
		path := plaintext.Relative(l.s.run.o.Root, filepath.Join(l.s.run.o.Worktree.Dir, k.Name))
		stay = append(stay, "the worktree "+path+" was not removed: "+k.Why)
	}
	return stay, err
}

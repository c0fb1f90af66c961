package worker

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/bench"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/guard"
	"relay/orchestrator/merge"
	"relay/orchestrator/provision"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

// slotEngine is the [engine.Engine] that gives each task a repository of its own (a slot) and lands what they make on the epic's
// integration branch. The user's checkout is not touched. A slot is used for one task after another: to make one costs seconds in a
// large repository.
type slotEngine struct {
	run      *workspace
	benches  *bench.Benches
	pool     *slot.Pool
	slots    *slot.Names
	branches *finish.BranchSet

	integration *integration.Branch
	headGuard   *integration.TipGuard   // of the head of integration
	ledgerView  *integration.LedgerView // of integration; nil: it was not read, or is this run's by now
	from        string                  // where the integration branch ended when the run began
	merger      *merge.Merger

	userCheckout *guard.CheckoutWatch                                     // nil: relay has no copy of it
	mayAsk       func(ctx context.Context, a engine.Attempt) (why string) // nil: always
	stay         []string                                                 // in words: what stays when the run ends, besides slots and branches
}

func newSlotEngine(g *workspace) *slotEngine {
	files, branch := provision.New(g.home, g.o), integration.NewBranch(g.home, g.o.Epic.ID, g.o.Landing)
	pool := slot.NewPool(g.home, g.o.Worktree.Dir)
	branch.Additions = len(g.o.Epic.Checks) > 0 || !slices.ContainsFunc(g.o.Epic.Tasks, func(t epic.Task) bool { return len(t.Checks) == 0 })
	branch.Signer.On = g.o.Sign
	guard := &integration.TipGuard{Branch: branch, Describe: func(ctx context.Context, from, to string) string {
		return changes.Notable(ctx, g.home, g.o.Epic, from, to)
	}}
	s := &slotEngine{
		run: g, pool: pool, integration: branch, headGuard: guard, slots: slot.NewNames(pool),
		branches: &finish.BranchSet{Repo: g.home, Epic: g.o.Epic.ID},
	}
	s.benches = &bench.Benches{
		Checks: g.checks, Pool: pool, Slots: s.slots, Files: files, Tools: g.guard.Tools, Env: g.guard.CommandEnv,
		Results: checks.NewCache(),
	}
	s.merger = &merge.Merger{
		Home: g.home, Options: g.o, Branch: branch, Guard: guard, Config: g.guard.Rules, Tasks: s.branches, Work: mergeWork{s},
	}
	return s
}

// alone reports whether only one attempt is under way, and no checks of others: then what was found just now is its doing.
func (s *slotEngine) alone() bool { return s.benches.Busy.Load() <= 1 }

// Prepare returns the head of the integration branch, from which the attempt begins. Work that only waits for its review
// stays where it was done: the reviewers who have read it are not asked again because others have landed.
func (s *slotEngine) Prepare(ctx context.Context, a engine.Attempt) (string, error) {
	tip := s.headGuard.Tip()
	if before := a.Previous.Base; before != "" && a.Previous.AwaitsReview() {
		held, err := git.Contains(ctx, s.run.home, tip, before)
		if held {
			return before, nil
		}
		return tip, git.Unasked(err)
	}
	return tip, nil
}

// Run runs an attempt in one slot and its checks in others. A success is left on the task's branch.
func (s *slotEngine) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	s.benches.Busy.Add(1)
	defer s.benches.Busy.Add(-1)
	t := s.attempt(a)
	err := t.carryOut(ctx)
	if err != nil {
		err = (&slotPlace{e: s}).contain(ctx, t, err)
	}
	return t.f.Result, err
}

// branch returns the branch that has a task's commits until they land.
func (s *slotEngine) branch(a engine.Attempt) string { return s.branches.Name(a.Task.ID) }

// Origin returns what attempts land on.
func (s *slotEngine) Origin() attempts.Integration { return s.run.Origin() }

// Tip returns the commit that the work is collected on.
func (s *slotEngine) Tip(ctx context.Context) (string, error) { return s.run.Tip(ctx) }

// Asked reports whether an agent or a reviewer was asked in an attempt of a killed run.
func (s *slotEngine) Asked(a engine.Attempt) bool { return s.run.Asked(a) }

// Admit refuses a run that cannot work as things are, and an integration branch that is not this epic's.
func (s *slotEngine) Admit(ctx context.Context, ledger *attempts.Ledger, open []engine.Attempt) error {
	view := relayfiles.LedgerViewOf(ledger, s.run.o.Dir)
	s.ledgerView = &view
	if err := (integration.History{Branch: s.integration, Ledger: view, Head: s.run.origin.Base}).RefuseForeign(ctx); err != nil {
		return err
	}
	here, err := bench.RefuseOtherIsolation(ctx, s.run.o, ledger, open)
	if err != nil || here {
		return err
	}
	return s.CheckReady(ctx)
}

// CheckReady refuses a repository or a folder in which slots cannot be made. Uncommitted changes in the user's checkout stay
// untouched.
func (s *slotEngine) CheckReady(ctx context.Context) error {
	if err := slot.CheckRepository(ctx, s.run.home); err != nil {
		return err
	}
	return slot.CheckFolder(s.run.o.Worktree.Dir)
}

// Awake makes the integration branch when the epic has none yet, at the commit of the run's options or of the user's checkout.
func (s *slotEngine) Awake(ctx context.Context) error {
	landed := s.ledgerView == nil || len(s.ledgerView.Landed)+len(s.ledgerView.Landing) > 0
	if s.ledgerView != nil {
		if err := (integration.History{Branch: s.integration, Ledger: *s.ledgerView, Head: s.run.origin.Base}).RestoreRef(ctx); err != nil {
			return err
		}
		s.ledgerView = nil
	}
	err := errors.Join(s.run.guard.KeepIgnore(), s.headGuard.Begin(ctx, s.run.origin.Base))
	if err == nil && !landed { // an earlier epic of that id may have left the branch
		_, err = s.headGuard.Forward(ctx, s.run.o.Begin)
	}
	if err == nil {
		err = s.compareSteering(ctx)
	}
	s.from = cmp.Or(s.from, s.headGuard.Tip())
	return err
}

// Follow adds to the integration branch what it lacks of the branch that the epic began from. The run begins there.
func (s *slotEngine) Follow(ctx context.Context, from string) (tip string, notes []attempts.Note, err error) {
	notes, err = merge.Follow(ctx, s.merger, from)
	if s.from = s.headGuard.Tip(); err == nil {
		s.run.landedSteering.Store(false)
		err = s.compareSteering(ctx)
	}
	return s.from, notes, err
}

// compareSteering looks whether earlier runs have landed a change of agents' configuration that the user's branch lacks.
func (s *slotEngine) compareSteering(ctx context.Context) error {
	tip := s.headGuard.Tip()
	if tip == "" || tip == s.run.trusted {
		return nil
	}
	return s.run.home.EachName(ctx, s.run.trusted, tip, func(n git.Change) error {
		s.run.recordSteering([]string{n.Path, n.From})
		return nil
	})
}

// Begin makes all ready for the first attempt: the integration branch, the files that slots get, and the watches of what is the
// user's. Without a copy of the user's checkout the run continues, and says so when it ends.
func (s *slotEngine) Begin(ctx context.Context) error {
	if err := s.Awake(ctx); err != nil { // nothing is begun that the next run would have to look at
		return err
	}
	if err := errors.Join(s.benches.First(ctx, s.headGuard.Tip()), s.excludeProvisioned(ctx)); err != nil {
		return err
	}
	g := s.run
	watch, warning := guard.WatchCheckout(ctx, guard.CheckoutOptions{
		Home: g.home, Ref: "refs/relay-checkout/" + g.o.Epic.ID + "/" + g.o.Run, Index: filepath.Join(g.o.Dir, "user-index"),
		Now: g.now, Taken: &g.checks.Taken,
	})
	if s.userCheckout = watch; warning != "" {
		s.stay = append(s.stay, warning)
	}
	return nil
}

// excludesName lists, below a run's folder, what agents' git ignores.
const excludesName = "excludes"

// excludeProvisioned has agents' git ignore the files that slots get.
func (s *slotEngine) excludeProvisioned(ctx context.Context) error {
	if !s.benches.Files.Configured() {
		return nil
	}
	s.run.excludes = filepath.Join(s.run.o.Dir, "runs", s.run.o.Run, excludesName)
	return s.benches.Files.WriteExcludes(ctx, s.run.excludes)
}

// Resume returns how an attempt ended that a killed run left open, if its landing was recorded and has been made; else nil.
func (s *slotEngine) Resume(ctx context.Context, a engine.Attempt, open attempts.Attempt) (*attempts.Ended, error) {
	if open.Landing == nil {
		return nil, nil
	}
	if landed, err := s.integration.Holds(ctx, open.Landing.Landed); err != nil || !landed {
		return nil, err
	}
	return open.Landing, s.branches.Drop(ctx, s.branch(a), open.Landing.Head)
}

// Reserve keeps the slot of an attempt of a killed run from being given to others before it is reopened.
func (s *slotEngine) Reserve(a engine.Attempt) {
	if name, ok := relayfiles.Of(s.run.o.Dir, a).Slot(); ok {
		s.slots.Reserve(name)
	}
}

// Close removes the slots: everything in them has landed, or is kept elsewhere. It returns in words what stays, and why.
func (s *slotEngine) Close(ctx context.Context) ([]string, error) {
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	var watching error
	if s.userCheckout != nil {
		watching = s.userCheckout.Close(ctx)
	}
	stay, err := s.removeSlots(ctx)
	return stay, errors.Join(err, watching, s.pool.Close(), s.integration.Unpin(ctx))
}

// removeSlots removes the slots but for what is nowhere else, and says what stays.
func (s *slotEngine) removeSlots(ctx context.Context) (stay []string, err error) {
	kept, err := slot.Clear(ctx, s.pool)
	stay = slices.Concat(s.stay, s.branches.Stay())
	for _, k := range kept {
		stay = append(stay, "the worktree "+s.run.relative(filepath.Join(s.run.o.Worktree.Dir, k.Name))+" was not removed: "+k.Why)
	}
	return stay, err
}

// mergeWork is what a [merge.Merger] needs of the slot engine.
type mergeWork struct{ s *slotEngine }

// Check runs the checks of one landing on the merged tree. They have passed on the work alone: one that fails now fails for what has
// landed since, unless it is of the epic and fails on the head of the integration branch too.
func (w mergeWork) Check(ctx context.Context, p engine.Verified, step engine.Step, ofEpic bool) (merge.Proof, error) {
	g := w.s.run
	var epicChecks []epic.Check
	if ofEpic {
		epicChecks = g.o.Epic.Checks
	}
	q := checks.Question{
		Attempt: p.Attempt, Logs: relayfiles.Of(g.o.Dir, p.Attempt).Checks, Commit: step.To, From: step.From,
		Checks: checks.On(checks.OnMerged, checks.List(p.Attempt.Task.Checks, epicChecks)),
	}
	g.guard.Enter()
	defer g.guard.Leave()
	proof, err := merge.Checked(ctx, w.s.benches, q)
	return proof, errors.Join(err, g.guard.Rules.MendSilently(ctx))
}

// Keep keeps the work of an attempt that was proved and does not land, and drops its branch.
func (w mergeWork) Keep(ctx context.Context, a engine.Attempt, r *engine.Result) error {
	t := w.s.attemptAt("", w.s.run.home, a)
	t.f.Result = *r
	err := t.work.Keep(ctx)
	if *r = t.f.Result; err != nil {
		return err
	}
	return w.s.branches.Drop(ctx, w.s.branch(a), r.Head)
}

// KeepCommit keeps the commit of an attempt that lands as another one.
func (w mergeWork) KeepCommit(ctx context.Context, a engine.Attempt, commit string) error {
	_, err := w.s.attemptAt("", w.s.run.home, a).c.tree.Salvage(ctx, collect.Ref(w.s.run.o.Epic.ID, a), commit)
	return err
}

// Contain gives up an attempt whose commits git cannot read.
func (w mergeWork) Contain(ctx context.Context, p engine.Verified, cause error) (engine.Result, error) {
	t := w.s.attempt(p.Attempt)
	t.f.Result = p.Result
	err := (&slotPlace{e: w.s}).contain(ctx, t, cause)
	return t.f.Result, err
}

// Lands notes that a task's changes land: of the configuration of agent CLIs, and of files that belong to other tasks.
func (w mergeWork) Lands(a engine.Attempt, r *engine.Result) {
	w.s.run.recordSteering(r.Receipt.FilesChanged)
	w.s.run.recordScope(&a.Task, r)
}

// LogFile returns a file in the folder of an attempt's checks, and makes room for it.
func (w mergeWork) LogFile(a engine.Attempt, name string) (string, error) {
	log := filepath.Join(relayfiles.Of(w.s.run.o.Dir, a).Checks, name)
	return log, w.s.run.makeRoom(log)
}

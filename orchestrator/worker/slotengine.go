package worker

import (
	"context"
	"path/filepath"
	"slices"

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
// integration branch. It does not touch the user's checkout. It uses a slot for one task after another: making one can take seconds.
type slotEngine struct {
	run      *workspace
	benches  *bench.Benches
	pool     *slot.Pool
	slots    *slot.Names
	branches *finish.BranchSet

	integration *integration.Branch
	headGuard   *integration.TipGuard // of the head of integration
	merger      *merge.Merger

	mayAsk func(ctx context.Context, a engine.Attempt) (why string)
}

func newSlotEngine(g *workspace, mine string) *slotEngine {
	files, branch := provision.New(g.home, g.o), integration.NewBranch(g.home, g.o.Epic.ID, g.o.Landing)
	pool := slot.NewPool(g.home, g.o.Worktree.Dir)
	branch.Additions = len(g.o.Epic.Checks) > 0 || !slices.ContainsFunc(g.o.Epic.Tasks, func(t epic.Task) bool { return len(t.Checks) == 0 })
	branch.Signer.On = g.o.Sign
	guard := &integration.TipGuard{Branch: branch, Describe: func(ctx context.Context, from, to string) string {
		return changes.Notable(ctx, g.home, g.o.Epic, from, to)
	}}
	s := &slotEngine{
		run: g, pool: pool, integration: branch, headGuard: guard, slots: slot.NewNames(pool),
		branches: &finish.BranchSet{Repo: g.home, Epic: g.o.Epic.ID}, mayAsk: func(context.Context, engine.Attempt) string { return "" },
	}
	s.benches = &bench.Benches{
		Checks: g.checks, Pool: pool, Slots: s.slots, Files: files, Tools: g.guard.Tools, Env: g.guard.CommandEnv,
		Results: checks.NewCache(), Mine: mine,
	}
	s.merger = &merge.Merger{
		Home: g.home, Options: g.o, Branch: branch, Guard: guard, Config: g.guard.Tools, Tasks: s.branches, Work: mergeWork{s},
	}
	return s
}

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
		err = s.contain(ctx, t, err)
	}
	return t.f.Result, err
}

// branch returns the branch that has a task's commits until they land.
func (s *slotEngine) branch(a engine.Attempt) string { return s.branches.Name(a.Task.ID) }

// attempt returns an attempt that will work in a slot.
func (s *slotEngine) attempt(a engine.Attempt) *attempt {
	t := newAttempt(s.run, a)
	t.place, t.checks.bench, t.panel.rooms = &slotPlace{e: s}, s.benches, s.benches.Review
	return t
}

// attemptAt returns an attempt with a repository that has its work: a slot, or with no name the user's own.
func (s *slotEngine) attemptAt(name string, repo *git.Repo, a engine.Attempt) *attempt {
	t := s.attempt(a)
	t.place.(*slotPlace).use(t, name, repo)
	return t
}

// freeBranch makes sure that a new attempt may have its task's branch. It keeps a person's commits there, and does not move a branch
// that a person has checked out.
func (s *slotEngine) freeBranch(ctx context.Context, t *attempt) error {
	name := s.branch(t.a)
	at, unkept, err := s.branches.Blocked(ctx, name)
	switch {
	case err != nil:
		return err
	case at != "":
		t.ev.Ready.Branch, t.ev.Ready.InUse = name, at
	case unkept != "":
		ref := "refs/relay/" + s.run.o.Epic.ID + "-moved/" + unkept
		t.f.Note("salvage", "what was on the branch "+name+" and in no other is kept as "+ref)
		return s.attemptAt("", s.run.home, t.a).c.tree.Keep(ctx, ref, unkept)
	}
	return nil
}

// stamp marks the commits.
func (s *slotEngine) stamp(ctx context.Context, t *attempt) error {
	tree := t.c.tree
	if err := tree.Keep(ctx, tree.Branch, t.f.Head); err != nil {
		return err
	}
	stamped, err := s.integration.AddTrailers(ctx, integration.AttemptCommits{
		Base: t.a.Base, Head: t.f.Head, Began: t.files.Begun(), Trailers: merge.Trailers(s.run.o, t.a),
	})
	if err != nil {
		return err
	}
	if err := s.attemptAt("", s.run.home, t.a).c.tree.Keep(ctx, tree.Branch, stamped); err != nil {
		return err
	}
	t.f.Head = stamped
	return tree.Follow(ctx, stamped)
}

// lookAtHead puts the integration branch back.
func (s *slotEngine) lookAtHead(ctx context.Context, seen *guard.Sightings) error {
	found, err := s.headGuard.Mend(context.WithoutCancel(ctx))
	if err == nil && found != "" {
		seen.Note("tamper", found)
	}
	return err
}

// clean puts back what reviewers and checks have done to relay's own files, to .git and to the integration branch.
func (s *slotEngine) clean(ctx context.Context, seen *guard.Sightings) error {
	ctx = context.WithoutCancel(ctx)
	if err := (&checkout{run: s.run, repo: s.run.home}).look(ctx, seen); err != nil {
		return err
	}
	return s.lookAtHead(ctx, seen)
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
	g.guard.Tools.Enter()
	defer g.guard.Tools.Leave()
	return merge.Checked(ctx, w.s.benches, q)
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
	err := w.s.contain(ctx, t, cause)
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

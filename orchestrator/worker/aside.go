package worker

import (
	"context"
	"errors"
	"fmt"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/guard"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
)

// Study is a checkout of a commit in which an agent is asked something outside of the plan: what it changes there ends with it.
type Study struct {
	Root string   // of the checkout
	Env  []string // of the agent

	engine *slotEngine
	a      engine.Attempt
}

// Study makes a checkout of the attempt's base, set up as one of a task, and calls use. It restores what was done to the user's repository
// meanwhile, and returns notes on that; stay says in words what could not be removed afterwards. The engine must be one of slots.
func (l *Local) Study(
	ctx context.Context, a engine.Attempt, use func(context.Context, *Study) error,
) (notes []attempts.Note, stay []string, err error) {
	var seen guard.Sightings
	stay, err = l.aside(ctx, func(s *slotEngine) error { return study(ctx, s, a, &seen, use) })
	return seen.Notes, stay, err
}

// aside calls do between the opening and the closing of an engine of slots that has no run. It returns in words what stays.
func (l *Local) aside(ctx context.Context, do func(s *slotEngine) error) (stay []string, err error) {
	if err := errors.Join(l.slots.CheckReady(ctx), l.slots.excludeProvisioned(ctx)); err != nil {
		return nil, err
	}
	err = do(l.slots.s)
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	stay, closing := l.slots.removeSlots(ctx)
	return stay, errors.Join(err, closing, l.slots.s.pool.Close())
}

func study(
	ctx context.Context, s *slotEngine, a engine.Attempt, seen *guard.Sightings, use func(context.Context, *Study) error,
) error {
	name, _ := s.slots.Take(slot.ForReview)
	defer s.slots.Release(name)
	repo, err := s.pool.Acquire(ctx, name, a.Base, "")
	if err != nil {
		return err
	}
	t := s.attemptAt(name, repo, a)
	var tr bench.Trouble
	at := checks.Location{Attempt: a, Logs: t.files.Checks, Dir: repo.Root(), Commit: a.Base}
	if err := s.benches.Provision(ctx, at, s.benches.Slot(name, a.Base, ""), false, &tr); err != nil {
		return err
	}
	if why := verdict.Unready(tr.Mishap); why != "" {
		return fmt.Errorf("a checkout for the agent cannot be set up: %s", why)
	}
	s.run.guard.Tools.Enter()
	defer s.run.guard.Tools.Leave()
	err = use(ctx, &Study{Root: repo.Root(), Env: t.c.agentEnv(a, ""), engine: s, a: a})
	return errors.Join(err, s.clean(ctx, seen))
}

// Try runs all checks of a plan on the commit: see [bench.Benches.TryPlan].
func (s *Study) Try(ctx context.Context, plan *epic.Epic, g *epic.Graph) (bench.Tried, error) {
	return s.engine.benches.TryPlan(ctx, s.a.Base, plan, g)
}

// Fork has an agent work on the prompt of an attempt that is none of a plan's, in a repository of its own at the attempt's base, and
// keeps what it makes below refs/relay: nothing of it lands. The engine must be one of slots. The result's receipt names the ref; stay says
// in words what could not be removed afterwards.
func (l *Local) Fork(ctx context.Context, a engine.Attempt) (r engine.Result, stay []string, err error) {
	stay, err = l.aside(ctx, func(s *slotEngine) error {
		if r, err = s.Run(ctx, a); err == nil && r.Succeeded() {
			err = mergeWork{s}.Keep(ctx, a, &r)
		}
		return err
	})
	return r, stay, err
}

// TryChecks runs the checks of the epic and of its tasks that are not completed on the commit that a run would begin from.
func (l *Local) TryChecks(ctx context.Context, done *attempts.Ledger, proving bool) (tried bench.Tried, err error) {
	o := l.run.o
	lists := bench.ListsOf(o, done)
	if l.user != nil {
		return bench.TryHere(ctx, l.run.checks, l.user.c.repo, lists)
	}
	base, err := l.run.home.Ref(ctx, l.slots.s.integration.Ref())
	if err != nil {
		return tried, err
	}
	base = plaintext.FirstOf(base, l.run.origin.Base)
	if o.Hook != "" {
		hook := checks.Hook(o.Hook, base, base, len(o.Epic.Checks))
		lists = append(lists, bench.List{Attempt: engine.Attempt{Run: o.Run}, Checks: []checks.Check{hook}, Hook: true})
	}
	return l.try(ctx, base, lists, proving)
}

// TryEpic runs the checks of the epic on a commit. The engine must be one of slots.
func (l *Local) TryEpic(ctx context.Context, commit string) (tried bench.Tried, err error) {
	list := bench.List{Attempt: engine.Attempt{Run: l.run.o.Run}, Checks: checks.List(nil, l.run.o.Epic.Checks)}
	if tried, err = l.try(ctx, commit, []bench.List{list}, false); len(tried.Checks) < len(list.Checks) {
		tried.Unready = plaintext.FirstOf(tried.Unready, "a check has changed what git knows of the checkout, or was not seen to end")
	}
	return tried, err
}

func (l *Local) try(ctx context.Context, commit string, lists []bench.List, prove bool) (tried bench.Tried, err error) {
	defer func() {
		ctx, cancel := git.Uninterrupted(context.WithoutCancel(ctx))
		defer cancel()
		err = errors.Join(err, l.slots.s.slots.RemoveAll(ctx))
	}()
	return l.slots.s.benches.Try(ctx, commit, lists, prove)
}

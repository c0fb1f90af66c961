package worker

import (
	"context"
	"errors"
	"fmt"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/guard"
	"relay/orchestrator/verdict"
)

// Study is a checkout of a commit in which an agent is asked something outside of the plan: what it changes there ends with it.
type Study struct {
	Root string   // of the checkout
	Env  []string // of the agent

	engine *slotEngine
	a      engine.Attempt
}

// Study makes a checkout of the attempt's base, set up as one of a task, and gives it to use. What was done to the user's repository
// meanwhile is put right, and told in notes; stay says in words what could not be removed afterwards. The engine must be one of slots.
func (l *Local) Study(
	ctx context.Context, a engine.Attempt, use func(context.Context, *Study) error,
) (notes []attempts.Note, stay []string, err error) {
	s := l.slots
	if err := errors.Join(s.CheckReady(ctx), s.excludeProvisioned(ctx)); err != nil {
		return nil, nil, err
	}
	var seen guard.Sightings
	err = l.study(ctx, a, &seen, use)
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	stay, closing := s.removeSlots(ctx)
	err = errors.Join(err, closing, s.pool.Close(), s.run.guard.Tools.Close())
	return seen.Notes, stay, err
}

func (l *Local) study(ctx context.Context, a engine.Attempt, seen *guard.Sightings, use func(context.Context, *Study) error) error {
	s := l.slots
	name, _ := s.slots.Take(slot.ForReview)
	defer s.slots.Release(name)
	repo, err := s.pool.Acquire(ctx, name, a.Base, "")
	if err != nil {
		return err
	}
	t := s.attemptAt(name, repo, a)
	var tr bench.Trouble
	if err := s.benches.Provision(ctx, checks.Location{Attempt: a, Logs: t.files.Checks, Dir: repo.Root()}, false, &tr); err != nil {
		return err
	}
	if why := verdict.Unready(tr.Mishap); why != "" {
		return fmt.Errorf("a checkout for the agent cannot be set up: %s", why)
	}
	s.run.guard.Enter()
	defer s.run.guard.Leave()
	err = use(ctx, &Study{Root: repo.Root(), Env: t.c.agentEnv(a, ""), engine: s, a: a})
	return errors.Join(err, s.clean(ctx, seen))
}

// Try runs all checks of a plan on the commit, each list in a clean checkout. A check that could run once a task has made what it lacks is
// told to be one that cannot run unless a task names that under its files.
func (s *Study) Try(ctx context.Context, plan *epic.Epic, g *epic.Graph) (bench.Tried, error) {
	o := s.engine.run.o
	was, graph := o.Epic, o.Graph
	tried := *plan
	tried.ID = was.ID
	o.Epic, o.Graph = &tried, g
	defer func() { o.Epic, o.Graph = was, graph }()
	done, err := s.engine.benches.Try(ctx, s.a.Base, bench.ListsOf(o, &attempts.Ledger{}))
	if ctx.Err() != nil {
		return done, errors.Join(err, context.Cause(ctx))
	}
	for i := range done.Checks {
		t := &done.Checks[i]
		if !t.Passed && t.CannotRun == "" {
			t.CannotRun = s.engine.run.checks.Unready(ctx, checks.Check{Check: t.Check}, t.Run, s.a.Base)
		}
	}
	return done, err
}

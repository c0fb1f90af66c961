package worker

import (
	"context"
	"errors"
	"slices"

	"relay/attempts"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/recordfiles"
	"relay/orchestrator/text"
)

// TryChecks runs the checks of the epic and of its tasks that are not completed on the commit that a run would begin from.
func (l *Local) TryChecks(ctx context.Context, done *attempts.Ledger) (tried bench.Tried, err error) {
	o := l.run.o
	lists := bench.ListsOf(o, done)
	if l.user != nil {
		return l.tryInCheckout(ctx, lists)
	}
	defer func() {
		ctx, cancel := uninterrupted(context.WithoutCancel(ctx))
		defer cancel()
		err = errors.Join(err, l.slots.slots.RemoveAll(ctx))
	}()
	base, err := l.run.home.Ref(ctx, l.slots.integration.Ref())
	if err != nil {
		return tried, err
	}
	base = text.FirstOf(base, l.run.origin.Base)
	if o.Hook != "" {
		hook := checks.Hook(o.Hook, base, base, len(o.Epic.Checks))
		lists = append(lists, bench.List{Attempt: engine.Attempt{Run: o.Run}, Checks: []checks.Check{hook}, Hook: true})
	}
	return l.slots.benches.Try(ctx, base, lists)
}

// tryInCheckout runs lists of checks in the user's own checkout, one at a time. Their changes stay there: a person may be at
// work.
func (l *Local) tryInCheckout(ctx context.Context, lists []bench.List) (tried bench.Tried, err error) {
	c, g := l.user.c, l.run
	before, err := c.repo.Changes(ctx)
	if err != nil {
		return tried, err
	}
	head, err := c.repo.Head(ctx)
	if err != nil {
		return tried, err
	}
	for _, list := range lists {
		for _, check := range list.Checks {
			list.Attempt.Base = head
			at := checks.Location{Attempt: list.Attempt, Logs: attemptfiles.Of(g.o.Dir, list.Attempt).Checks, Dir: c.repo.Root()}
			s, err := g.checks.Run(ctx, at, check)
			if err != nil || ctx.Err() != nil {
				return tried, errors.Join(err, ctx.Err())
			}
			tried.Checks = append(tried.Checks, list.Result(ctx, g.checks, check, s, head))
		}
	}
	after, err := c.repo.Changes(ctx)
	for _, change := range recordfiles.Others(ctx, c.repo, after) {
		if change.Code != "??" && !slices.Contains(before, change) {
			tried.Changed = append(tried.Changed, change.Path)
		}
	}
	return tried, err
}

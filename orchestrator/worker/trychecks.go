package worker

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// TryChecks runs the checks of the epic and of its tasks that are not completed on the commit that a run would begin from.
func (l *Local) TryChecks(ctx context.Context, done *attempts.Ledger) (tried bench.Tried, err error) {
	o := l.run.o
	lists := bench.ListsOf(o, done)
	if l.user != nil {
		return bench.TryHere(ctx, l.run.checks, l.user.c.repo, lists)
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

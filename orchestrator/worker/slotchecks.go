package worker

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/git/worktree"
)

// ask runs checks in clean checkouts of a commit, one after another, until visit wants no more. What is known of the
// commit's tree is not run again; when all is known there is no checkout either.
func (s *slotEngine) ask(ctx context.Context, q checks.Question, f *state, visit checks.Visit) error {
	tree, err := s.home.Tree(ctx, q.Commit)
	if err != nil {
		return err
	}
	for _, list := range q.Lists() {
		if more, err := s.askList(ctx, list, tree, f, visit); err != nil || !more {
			return err
		}
	}
	return nil
}

func (s *slotEngine) askList(ctx context.Context, q checks.Question, tree string, f *state, visit checks.Visit) (more bool, err error) {
	b := bench{l: s, q: q}
	defer b.leave()
	run := func() (list []checks.Result, whole bool, err error) {
		list, more, err = b.run(ctx, f, visit)
		return list, more, err
	}
	if q.Anew {
		_, _, err := run()
		return more, err
	}
	own, shared := s.checks.Key(q, tree, q.Attempt.Task.ID), s.checks.Key(q, tree, "")
	key := own
	if q.OfEpic() || q.Before && !slices.ContainsFunc(q.Checks, func(n checks.Check) bool { return n.Expect == epic.ExpectRedThenGreen }) {
		key = shared // whose doing a failure is may be told by what another task's checks have said
	}
	list, cached, err := s.results.Get(ctx, key, q.Believed, run)
	switch {
	case err != nil:
		return false, err
	case ctx.Err() != nil && f.Outcome == attempts.Success:
		checks.FailStopped(q.Checks[0], &f.Result)
		return false, nil
	case cached:
		return q.Replay(list, visit)
	case !q.OfEpic():
		s.results.Copy(key, own)
		s.results.Copy(key, shared)
	}
	return more, nil
}

// bench is a clean checkout of a commit to run a list of checks in.
type bench struct {
	l    *slotEngine
	q    checks.Question
	name string
	at   checks.Location
}

// run runs the list from its first check, until visit wants no more; more is false then.
func (b *bench) run(ctx context.Context, f *state, visit checks.Visit) (list []checks.Result, more bool, err error) {
	if err := b.enter(ctx, f); err != nil || f.Outcome != attempts.Success {
		return nil, false, err
	}
	for _, check := range b.q.Checks {
		s, err := b.l.checks.Run(ctx, b.at, check)
		switch {
		case ctx.Err() != nil:
			checks.FailStopped(check, &f.Result)
			return list, false, nil //nolint:nilerr // the attempt ends as stopped
		case err != nil:
			return list, false, err
		case s.Unknown:
			checks.FailUnknown(check, &f.Result)
			return list, false, nil
		}
		if s.Changed, err = b.putBack(ctx, f); err != nil || f.Outcome != attempts.Success {
			return list, false, err
		}
		list = append(list, s)
		if more, err := visit(check, s); err != nil || !more {
			return list, false, err
		}
	}
	return list, true, nil
}

// enter makes the checkout.
func (b *bench) enter(ctx context.Context, f *state) error {
	b.name, _ = b.l.slots.take(benchSlot)
	b.l.busy.Add(1)
	repo, err := b.l.pool.Acquire(ctx, b.name, b.q.Commit, "")
	if err != nil {
		return err
	}
	if err := (&worktree.Tree{Repo: repo}).Lay(ctx, b.q.LayFrom, b.q.Lay); err != nil {
		return err
	}
	b.at = checks.Location{Attempt: b.q.Attempt, Logs: b.q.Logs, Dir: repo.Root()}
	before := len(f.Receipt.Checks)
	if err := b.l.provision(ctx, b.at, b.l.files, b.q.OfEpic(), f); err != nil || f.Outcome != attempts.Environment || b.q.From == "" {
		return err
	}
	return b.blame(ctx, f, f.Receipt.Checks[before:])
}

// blame finds out whose doing it is that a work cannot be set up: where the set-up goes well without it, it is the work's.
func (b *bench) blame(ctx context.Context, f *state, failed []attempts.CheckRun) error {
	without := bench{l: b.l, q: b.q}
	without.q.Commit, without.q.From, without.q.Logs = b.q.From, "", filepath.Join(b.q.Logs, "without")
	defer without.leave()
	alone := state{Result: engine.Result{Outcome: attempts.Success}}
	if err := without.enter(ctx, &alone); err != nil || alone.Outcome != attempts.Success {
		return err
	}
	f.Fail(attempts.Check, f.Receipt.ErrorCategory, f.Receipt.ErrorSummary+"; without this work it succeeds")
	for i := range failed {
		failed[i].Phase, failed[i].Attribution = attempts.PhaseTask, attempts.BrokenByTask
	}
	return nil
}

// putBack puts protected files back that were changed while a check ran: the next ones would go by them.
func (b *bench) putBack(ctx context.Context, f *state) ([]string, error) {
	patterns := b.q.Protected(b.l.o.Epic)
	if len(patterns) == 0 {
		return nil, nil
	}
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	changed, err := b.l.pool.Undo(ctx, b.name, func(path string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, path) })
	})
	if errors.Is(err, slot.ErrSpoiled) {
		f.Fail(attempts.Environment, attempts.CLIError, "what git knows of the checkout was changed while the checks ran; they prove nothing")
		return nil, nil
	}
	return changed, err
}

func (b *bench) leave() {
	if b.name != "" {
		b.l.slots.release(b.name)
		b.l.busy.Add(-1)
	}
}

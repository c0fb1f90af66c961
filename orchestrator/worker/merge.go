package worker

import (
	"context"
	"errors"
	"path/filepath"

	"relay/epic"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/merge"
)

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
		Attempt: p.Attempt, Logs: attemptfiles.Of(g.o.Dir, p.Attempt).Checks, Commit: step.To, From: step.From,
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
	err := t.work.keepWork(ctx)
	if *r = t.f.Result; err != nil {
		return err
	}
	return w.s.branches.Drop(ctx, w.s.branch(a), r.Head)
}

// KeepCommit keeps the commit of an attempt that lands as another one.
func (w mergeWork) KeepCommit(ctx context.Context, a engine.Attempt, commit string) error {
	_, err := w.s.attemptAt("", w.s.run.home, a).c.tree.Salvage(ctx, salvageRef(w.s.run.o.Epic.ID, a), commit)
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
	log := filepath.Join(attemptfiles.Of(w.s.run.o.Dir, a).Checks, name)
	return log, w.s.run.makeRoom(log)
}

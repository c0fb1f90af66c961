package worker

import (
	"context"
	"errors"
	"path/filepath"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
)

// mergeWork is what a [merge.Merger] needs of the slot engine.
type mergeWork struct{ *slotEngine }

// Check runs the checks of one landing on the merged tree. Nobody's attempt may be under way meanwhile who would look at what they
// have done.
func (w mergeWork) Check(ctx context.Context, p engine.Verified, step engine.Step, ofEpic bool) (engine.Result, error) {
	var epicChecks []epic.Check
	if ofEpic {
		epicChecks = w.o.Epic.Checks
	}
	q := checks.Question{
		Attempt: p.Attempt, Logs: filesOf(w.o.Dir, p.Attempt).checks, Commit: step.To, From: step.From,
		Checks: checks.On(checks.OnMerged, checks.List(p.Attempt.Task.Checks, epicChecks)),
	}
	f := state{Result: p.Result}
	w.watch()
	defer w.unwatch()
	err := errors.Join(w.checkMerged(ctx, q, &f), w.rules.MendSilently(ctx))
	return f.Result, err
}

// checkMerged runs checks on a merged tree. They have passed on the work alone: one that fails now fails for what has landed since,
// unless it is of the epic and fails on the head of the integration branch too.
func (w mergeWork) checkMerged(ctx context.Context, q checks.Question, f *state) error {
	return w.ask(ctx, q, f, func(check checks.Check, after checks.Result) (bool, error) {
		after.Run.Phase = attempts.PhaseMerged
		if after.Passed() {
			f.Receipt.Checks = append(f.Receipt.Checks, after.Run)
			return true, nil
		}
		if check.OfEpic {
			before, err := w.onHead(ctx, checks.Question{Attempt: q.Attempt, Logs: q.Logs, Commit: q.From}, check, f)
			if err != nil || f.Outcome != attempts.Success {
				return false, err
			}
			if before.Red() {
				after.Run.Attribution = attempts.BrokenBefore
				f.Receipt.Checks = append(f.Receipt.Checks, after.Run)
				if worse := checks.Difference(before, after); worse != "" {
					f.Note("broken_before", check.Name+" fails on what "+q.Attempt.Task.ID+" lands on too"+worse+"; it is not held against the task")
				}
				return true, nil
			}
		}
		after.Run.Attribution = attempts.BrokenByTask
		f.Receipt.Checks = append(f.Receipt.Checks, after.Run)
		w.checks.Fail(check, after, &f.Result)
		return false, nil
	})
}

// onHead returns the result of a check of the epic on the head of the integration branch, without this landing.
func (w mergeWork) onHead(ctx context.Context, q checks.Question, check checks.Check, f *state) (before checks.Result, err error) {
	all := q
	all.Before, all.Checks = true, checks.On(checks.OnTip, checks.List(nil, w.o.Epic.Checks))
	err = w.ask(ctx, all, f, func(one checks.Check, result checks.Result) (bool, error) {
		if one.Index == check.Index {
			before = result
		}
		return true, nil
	})
	if err != nil || f.Outcome != attempts.Success {
		return before, err
	}
	return w.rerun(ctx, q, check, before, f)
}

// Keep keeps the work of an attempt that was proved and does not land, and drops its branch.
func (w mergeWork) Keep(ctx context.Context, a engine.Attempt, r *engine.Result) error {
	f := state{Result: *r}
	at := w.attemptIn("", w.home, a)
	err := collectorIn(at.c).keepWork(ctx, a, at.p, &f)
	if *r = f.Result; err != nil {
		return err
	}
	return w.branches.Drop(ctx, w.branch(a), f.Head)
}

// KeepCommit keeps the commit of an attempt that lands as another one.
func (w mergeWork) KeepCommit(ctx context.Context, a engine.Attempt, commit string) error {
	_, err := w.attemptIn("", w.home, a).c.tree.Salvage(ctx, salvageRef(w.o.Epic.ID, a), commit)
	return err
}

// Contain gives up an attempt whose commits git cannot read.
func (w mergeWork) Contain(ctx context.Context, p engine.Verified, cause error) (engine.Result, error) {
	f, err := abandoner(w).contain(ctx, p.Attempt, state{Result: p.Result}, cause)
	return f.Result, err
}

// Lands notes that a task's changes land: of the configuration of agent CLIs, and of files that belong to other tasks.
func (w mergeWork) Lands(a engine.Attempt, r *engine.Result) {
	w.recordSteering(r.Receipt.FilesChanged)
	w.recordScope(&a.Task, r)
}

// LogFile returns a file in the folder of an attempt's checks, and makes room for it.
func (w mergeWork) LogFile(a engine.Attempt, name string) (string, error) {
	log := filepath.Join(filesOf(w.o.Dir, a).checks, name)
	return log, w.makeRoom(log)
}

// recordScope notes which changed files belong to other tasks.
func (g *workspace) recordScope(task *epic.Task, r *engine.Result) {
	change := changes.OfTask{Task: task, Files: r.Receipt.FilesChanged}
	if found := changes.OutOfScope(g.o.Epic, g.o.Graph, change); len(found.Files) > 0 {
		r.Note("scope", task.ID+found.Foreign())
	}
}

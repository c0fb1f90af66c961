package merge

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/bench"
	"relay/orchestrator/checks"
	"relay/orchestrator/verdict"
)

// Checked runs checks on a merged tree, q.From being what the work lands on.
func Checked(ctx context.Context, b *bench.Benches, q checks.Question) (proof Proof, err error) {
	var tr bench.Trouble
	same, err := sameTree(ctx, b, q)
	if err != nil {
		return proof, err
	}
	err = b.Ask(ctx, q, &tr, func(check checks.Check, after checks.Result) (bool, error) {
		after.Run.Phase = attempts.PhaseMerged
		run := verdict.Run{Name: check.Name, OfEpic: check.OfEpic, Is: after.State()}
		if run.Is != verdict.Passed && check.OfEpic {
			before, err := after, error(nil)
			if !same {
				before, err = onHead(ctx, b, checks.Question{Attempt: q.Attempt, Logs: q.Logs, Commit: q.From}, check, &tr)
			}
			if err != nil || tr.Any() {
				return false, err
			}
			if checks.Worse(before, after) == "" { // more failures are not excused
				run.Before = before.State()
			}
		}
		switch {
		case run.Is == verdict.Passed:
			if after.Flaky != nil {
				proof.Flaky = b.Checks.Why(check, *after.Flaky) + " on what " + q.Attempt.Task.ID + " makes with all that has landed; repeated alone it passed"
			}
		case run.Excused():
			after.Run.Attribution = attempts.BrokenBefore
		default:
			after.Run.Attribution = attempts.BrokenByTask
			run.How, run.Short = b.Checks.Why(check, after), b.Checks.Briefly(check, after)
		}
		proof.Checks, proof.Seen.Runs = append(proof.Checks, after.Run), append(proof.Seen.Runs, run)
		return run.Is == verdict.Passed || run.Excused(), nil
	})
	proof.Seen.Mishap = tr.Mishap
	proof.Checks = append(proof.Checks, tr.Runs...)
	return proof, err
}

// sameTree reports whether a landing changes no file. Asking for the checks of the head would then wait for the list that is being run.
func sameTree(ctx context.Context, b *bench.Benches, q checks.Question) (bool, error) {
	merged, err := b.Checks.Home.Tree(ctx, q.Commit)
	if err != nil {
		return false, err
	}
	head, err := b.Checks.Home.Tree(ctx, q.From)
	return head == merged, err
}

// onHead returns the result of a check of the epic on the head of the integration branch, without this landing.
func onHead(
	ctx context.Context, b *bench.Benches, q checks.Question, check checks.Check, tr *bench.Trouble,
) (before checks.Result, err error) {
	all := q
	all.Before, all.Checks = true, checks.On(checks.OnTip, checks.List(nil, b.Checks.Options.Epic.Checks))
	err = b.Ask(ctx, all, tr, func(one checks.Check, result checks.Result) (bool, error) {
		if one.Index == check.Index {
			before = result
		}
		return true, nil
	})
	if err != nil || tr.Any() {
		return before, err
	}
	return b.Again(ctx, q, check, before, tr)
}

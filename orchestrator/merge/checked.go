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
	err = b.Ask(ctx, q, &tr, func(check checks.Check, after checks.Result) (bool, error) {
		after.Run.Phase = attempts.PhaseMerged
		run := verdict.Run{Name: check.Name, OfEpic: check.OfEpic, Is: after.State()}
		if run.Is != verdict.Passed && check.OfEpic {
			before, err := onHead(ctx, b, q, check, after, &tr)
			if err != nil || tr.Any() {
				return false, err
			}
			if checks.Difference(before, after) == "" { // only the same failure is excused
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

// onHead returns the result of a check of the epic on the head of the integration branch, without this landing. If the landing changes
// no file, that is after: asking for it would wait for the list that after is part of.
func onHead(
	ctx context.Context, b *bench.Benches, merged checks.Question, check checks.Check, after checks.Result, tr *bench.Trouble,
) (before checks.Result, err error) {
	tree, err := b.Checks.Home.Tree(ctx, merged.Commit)
	if err != nil {
		return before, err
	}
	if head, err := b.Checks.Home.Tree(ctx, merged.From); err != nil || head == tree {
		return after, err
	}
	q := checks.Question{Attempt: merged.Attempt, Logs: merged.Logs, Commit: merged.From}
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

package merge

import (
	"context"
	"os"
	"slices"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/verdict"
)

// checkStep has the checks pass on the step's tree and fills in the results of a batch. A red step of one goes nowhere; a red step of
// several is reported and nothing else.
func (m *Merger) checkStep(ctx context.Context, batch []engine.Verified, made *step) (green bool, err error) {
	results := each.Of(batch, func(one engine.Verified) engine.Result { return one.Result })
	unchanged, err := m.unchanged(ctx, batch, made)
	if err != nil {
		return false, err
	}
	if !unchanged {
		for i := range batch {
			var ruling verdict.Ruling
			if results[i], ruling, err = m.checkOne(ctx, batch, i, made); err != nil {
				return false, err
			}
			if ruling.Lands() && !undone(batch, i, results[i].Receipt.Checks) {
				continue
			}
			if len(batch) > 1 {
				return false, nil
			}
			made.To = made.From
			err := m.keep(ctx, batch[i].Attempt, &results[i], ruling)
			made.Results = results
			return false, err
		}
	}
	if why := m.Branch.Signer.Unsigned(); why != "" {
		what := "it lands"
		if len(batch) > 1 {
			what = plaintext.Listed(ids(batch)) + " land"
		}
		results[0].Note("unsigned", what+" without a signature: "+why)
	}
	for i := range results {
		results[i].Landed = made.To
		made.branches[m.Tasks.Name(batch[i].Attempt.Task.ID)] = results[i].Head
		if made.anew[batch[i].Attempt.Task.ID] { // what the ledger calls the head stays reachable
			made.replayed = append(made.replayed, engine.Verified{Attempt: batch[i].Attempt, Result: results[i]})
		}
		if _, err := byTemplate(m.Options, &batch[i].Attempt.Task, results[i].Receipt.Summary); err != nil {
			results[i].Note("commit", "relay.commit makes no message for "+batch[i].Attempt.Task.ID+", whose commit has the usual one: "+err.Error())
		}
		m.Work.Lands(batch[i].Attempt, &results[i])
	}
	made.Results = results
	return true, nil
}

// ids lists the tasks of a batch.
func ids(batch []engine.Verified) []string {
	return each.Of(batch, func(one engine.Verified) string { return one.Attempt.Task.ID })
}

// unchanged reports whether what the checks have said of a task's work holds for the step it lands with: the files are the same, and
// nothing was excused by a base that is not the head of the branch.
func (m *Merger) unchanged(ctx context.Context, batch []engine.Verified, made *step) (bool, error) {
	first := batch[0]
	if len(batch) > 1 || made.From != first.Attempt.Base && excused(first.Result.Receipt.Checks) {
		return false, nil
	}
	if made.To == first.Result.Head {
		return true, nil
	}
	merged, err := m.Home.Tree(ctx, made.To)
	if err != nil {
		return false, err
	}
	alone, err := m.Home.Tree(ctx, first.Result.Head)
	return merged == alone, err
}

// excused reports whether a check has failed and was not charged to the task.
func excused(runs []attempts.CheckRun) bool {
	return slices.ContainsFunc(runs, func(run attempts.CheckRun) bool { return run.Attribution == attempts.BrokenBefore })
}

// checkOne runs the checks of one of a batch on the step's tree. Where the set-up fails it is tried again: a flake costs less than an agent
// that does it all again.
func (m *Merger) checkOne(ctx context.Context, batch []engine.Verified, i int, made *step) (engine.Result, verdict.Ruling, error) {
	p := batch[i]
	r, ruling, err := m.check(ctx, p, made, i == 0)
	if err != nil || len(batch) > 1 || !ruling.Contends() || r.Evidence.Checks.SetUp == "" {
		return r, ruling, err
	}
	return m.check(ctx, p, made, i == 0)
}

// check runs the checks of one landing on the merged tree. Work whose checks fail there fits what has landed since as far as git can
// tell, and no further.
func (m *Merger) check(ctx context.Context, p engine.Verified, made *step, ofEpic bool) (engine.Result, verdict.Ruling, error) {
	r := p.Result
	proof, err := m.Work.Check(ctx, p, made.Step, ofEpic)
	r.Receipt.Checks, r.Notes = slices.Concat(r.Receipt.Checks, proof.Checks), slices.Clone(r.Notes)
	if proof.Flaky != "" {
		r.Note("flaky", proof.Flaky)
	}
	seen := &verdict.Evidence{Checks: &proof.Seen, Landing: &verdict.Landing{}}
	ruling := verdict.DecideLanding(seen)
	if ruling.Contends() {
		seen.Landing.Since = sinceIn(ctx, m.Home, p.Attempt.Base, made.From)
		ruling = verdict.DecideLanding(seen)
		r.Receipt.Contested = r.Receipt.FilesChanged
	}
	if !ruling.Lands() {
		r.Rule(seen, ruling)
	}
	r.NoteRefused()
	return r, ruling, err
}

// undone reports whether a check of the epic that fails on a batch, and on the head of the branch, has passed on the work of one of
// the batch: alone that one would have mended it, and what breaks it again would not have landed.
func undone(batch []engine.Verified, i int, runs []attempts.CheckRun) bool {
	return len(batch) > 1 && slices.ContainsFunc(runs[len(batch[i].Result.Receipt.Checks):], func(now attempts.CheckRun) bool {
		return now.Attribution == attempts.BrokenBefore && slices.ContainsFunc(batch, func(p engine.Verified) bool {
			return slices.ContainsFunc(p.Result.Receipt.Checks, func(own attempts.CheckRun) bool {
				return own.Name == now.Name && own.Phase == attempts.PhaseMerged && own.ExitCode == 0 && own.Attribution != attempts.StayedClean
			})
		})
	})
}

// conflicts records a merge conflict, for the next attempt, and returns the ruling on it.
func (m *Merger) conflicts(
	ctx context.Context, a engine.Attempt, head string, c *integration.ConflictError, r *engine.Result,
) verdict.Ruling {
	seen := &verdict.Evidence{Landing: &verdict.Landing{Conflict: c.Files, With: since(ctx, m.Home, a.Base, head, c.Files...)}}
	ruling := verdict.DecideLanding(seen)
	r.Rule(seen, ruling)
	r.Receipt.Contested = c.Files
	run := attempts.CheckRun{
		Name: "git merge relay/" + m.Options.Epic.ID, ExitCode: 1, Phase: attempts.PhaseMerged, Tail: plaintext.Capped(c.Text, 4<<10),
	}
	if log, err := m.Work.LogFile(a, "merge-landing.log"); err == nil && os.WriteFile(log, []byte(c.Text), 0o600) == nil {
		run.Log = plaintext.Relative(m.Options.Dir, log)
	}
	r.Receipt.Checks = append(slices.Clone(r.Receipt.Checks), run)
	return ruling
}

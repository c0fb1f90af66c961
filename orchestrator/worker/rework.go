package worker

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/facts"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/review"
	"relay/runners"
)

// rework gives the findings of a review back to the agent, at most Review.Rounds times in one attempt. It reports
// whether there is new work to be looked at; then f is that of the agent's next turn, and else as it was.
func (c agentTurns) rework(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) (more bool, err error) {
	if f.Outcome != attempts.Review || f.Gate != "" || f.rounds >= c.o.Review.Rounds || ctx.Err() != nil {
		return false, nil //nolint:nilerr // a run that was stopped has no rework
	}
	if again := repeated(f.before, f.wanted); again != "" {
		f.Note("review", "the same finding twice, so no further round: "+again)
		return false, nil
	}
	if c.ceiling == "" { // what checks and reviewers have left in the user's checkout is not the agent's work
		if err := c.tree.Restore(ctx, f.Head); err != nil {
			return false, err
		}
	}
	round := attempts.Round{Number: f.rounds + 1, Head: f.judged, Verdict: f.Receipt.Verdict, Wanted: f.wanted}
	shared := c.panel()
	if err := shared.Record(a, attempts.ReviewProgress{Rounds: []attempts.Round{round}}); err != nil {
		return false, err
	}
	next, err := c.nextTurn(ctx, a, p, f)
	if err != nil {
		return false, err
	}
	f.follow(next, c.o.Review.Rounds)
	return true, nil
}

// follow makes f what it is after the agent's next turn, of so many.
func (f *state) follow(next state, most int) {
	if next.noResult != nil && next.Outcome == attempts.Agent {
		next.presume(attempts.ResultReviewers) // who look at it again
	}
	next.Receipt.ResultFrom = cmp.Or(next.Receipt.ResultFrom, f.Receipt.ResultFrom)
	next.rounds, next.before, next.judged = f.rounds+1, f.wanted, f.judged
	next.Notes, next.Unable = append(f.Notes, next.Notes...), f.Unable
	next.spent(f.Result)
	next.answered, next.onBase = next.Receipt.Summary, f.onBase
	next.Receipt.Summary = text.JoinSummaries(f.Receipt.Summary, next.Receipt.Summary, next.rounds)
	next.Receipt.Statement = facts.Later(f.Receipt.Statement, next.Receipt.Statement)
	next.Receipt.Learning = text.FirstOf(next.Receipt.Learning, f.Receipt.Learning)
	next.earlier, next.Receipt.Review = f.Receipt.Findings, f.Receipt.Review
	next.Receipt.Checks = slices.DeleteFunc(slices.Clone(f.Receipt.Checks),
		func(r attempts.CheckRun) bool { return r.Phase != attempts.PhaseBaseline })
	switch {
	case next.Outcome == attempts.Success:
	case next.Outcome.Charged(): // the findings stand, and what it has done in this turn is collected all the same
		next.Receipt.Verdict, next.Receipt.Findings = f.Receipt.Verdict, f.Receipt.Findings
		next.Fail(attempts.Review, attempts.QualityGate, "the agent did not fix what the reviewers found: "+next.Receipt.ErrorSummary)
		next.rounds = most // there is no further one
	default: // nobody's fault: the next attempt is told of the findings
		next.Receipt.Verdict, next.Receipt.Findings = f.Receipt.Verdict, f.Receipt.Findings
	}
	*f = next
}

// repeated returns a finding that was there in the round before.
func repeated(before, now []review.Raised) string {
	for _, one := range now {
		if slices.ContainsFunc(before, func(other review.Raised) bool { return review.Same(one.Finding, other.Finding) }) {
			return one.Issue
		}
	}
	return ""
}

// nextTurn runs the agent once more: in its session when there is one that can go on, else a fresh one with the brief.
func (c agentTurns) nextTurn(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) (state, error) {
	report, err := c.giveFindings(ctx, a, p, f)
	if err != nil {
		return state{}, err
	}
	next := f.turned(report)
	if f.Session == "" || report.Outcome != runners.NoSession && report.Outcome != runners.ContextExhausted {
		return next, nil
	}
	f.Session, f.used = "", runners.Usage{}
	f.spent(next.Result)
	if report, err = c.giveFindings(ctx, a, p, f); err != nil {
		return state{}, err
	}
	return f.turned(report), nil
}

// giveFindings gives the agent the findings of the last review.
func (c agentTurns) giveFindings(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) (runners.Report, error) {
	again := p.round(f.rounds + 1)
	facts, err := c.state(ctx)
	if err != nil {
		return runners.Report{}, err
	}
	known := a.BriefInput
	known.Facts, known.Base = facts, a.Base
	told := withoutSecrets(c.o, reanchor.Rework{
		Findings: f.Receipt.Findings, Round: f.rounds + 1, Of: c.o.Review.Rounds, Resumed: f.Session != "",
	}.Brief(known))
	if err := c.makeRoom(again.brief, again.result, again.transcript, again.stderr, again.end); err != nil {
		return runners.Report{}, err
	}
	if err := os.WriteFile(again.brief, withoutSecrets(c.o, told), 0o600); err != nil {
		return runners.Report{}, err
	}
	c.emit(engine.Event{
		Task: a.Task.ID, Kind: engine.KindMending, Detail: runners.Event{Text: fmt.Sprintf("round %d of %d", f.rounds+1, c.o.Review.Rounds)},
	})
	return c.run(ctx, a, again, turn{sup: c.o.Supervisor, session: f.Session, used: f.used, before: f.Usage})
}

// turned is what a further turn of the agent came to, by what it reports.
func (f *state) turned(report runners.Report) state {
	next := judge(report)
	if next.Session == f.Session {
		next.used = f.used.Plus(report.Usage)
	}
	next.Session = text.FirstOf(next.Session, f.Session)
	return next
}

// failIfUnchanged fails a turn after a review that has changed nothing: the reviewers would say the same again.
func (c verifier) failIfUnchanged(ctx context.Context, f *state) error {
	if f.Outcome != attempts.Success || f.rounds == 0 {
		return nil
	}
	names, err := c.repo.Names(ctx, f.judged, f.Head)
	if err != nil || len(names) > 0 {
		return err
	}
	f.Receipt.Verdict, f.Receipt.Findings = review.NeedsChanges, f.earlier
	f.Fail(attempts.Review, attempts.QualityGate, "the reviewers want changes, and the agent made none: "+f.before[0].InShort())
	f.rounds = c.o.Review.Rounds // there is no further one
	return nil
}

// folder is where the answers of a round are.
func (f *state) folder(review string) string {
	if f.rounds == 0 {
		return review
	}
	return filepath.Join(review, fmt.Sprintf("round-%d", f.rounds+1))
}

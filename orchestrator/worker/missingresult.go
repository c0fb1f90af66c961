package worker

import (
	"context"
	"fmt"
	"os"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/reanchor"
	"relay/runners"
)

// An agent that ends well, and gives no result that can be read, has not failed for that: its word would be a claim only.
// What decides instead is, first, evidence: the task's own checks, or the reviewers whose findings it was to mend. Where there is
// none, its session is asked once for the result alone. Only then has the attempt ended without a result.

// lacksResult reports whether an agent ended without a result that can be read, and without a fault that its CLI knows of.
func lacksResult(r runners.Report) bool {
	switch r.Outcome {
	case runners.NoResult, runners.BadResult, runners.PermissionDenied:
		return r.Result == nil
	default:
		return r.EndedWell && r.Result == nil
	}
}

// maxWords bounds what stands in a receipt of an agent's last message.
const maxWords = 500

// withoutResult takes note that the agent gave no result. Its last words stand in for a summary.
func (f *state) withoutResult(r runners.Report) {
	f.noResult = &missingResult{outcome: f.Outcome, category: f.Receipt.ErrorCategory, summary: f.Receipt.ErrorSummary}
	f.Receipt.Summary = attempts.Clean(r.FinalText, maxWords)
}

// presume has evidence decide in place of the result that the agent did not give.
func (f *state) presume(by attempts.ResultSource) {
	if f.noResult == nil {
		return
	}
	f.Outcome, f.Receipt.ErrorCategory, f.Receipt.ErrorSummary = attempts.Success, "", ""
	f.Receipt.ResultFrom = by
}

// revertPresumed takes back what was presumed: the attempt ended without a result.
func (f *state) revertPresumed() {
	f.Fail(f.noResult.outcome, f.noResult.category, f.noResult.summary)
	f.Receipt.ResultFrom = ""
}

// revertUncharged takes back what was presumed of an agent that its mode or its provider kept from its work: that a check fails is
// not its doing.
func (f *state) revertUncharged() {
	if f.noResult != nil && !f.noResult.outcome.Charged() && f.Outcome == attempts.Check {
		f.revertPresumed()
	}
}

// undecided reports whether nothing has decided yet what an agent without a result has come to.
func (f *state) undecided() bool {
	return f.noResult != nil && !f.noResult.asked && f.Outcome == f.noResult.outcome && f.Receipt.ErrorSummary == f.noResult.summary
}

// resultWall bounds the turn in which an agent is asked for its result.
const resultWall = 5 * time.Minute

// again has the agent work in its session once more, if there is a reason to: it is asked for a result that it did not
// give, or given what reviewers have found. It reports whether there is something new to be looked at.
func (c agentTurns) again(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) (more bool, err error) {
	f.revertUncharged()
	if more, err = c.askResult(ctx, a, p, f); more || err != nil {
		return more, err
	}
	return c.rework(ctx, a, p, f)
}

// askResult asks the session of an agent without a result for the result alone, once.
func (c agentTurns) askResult(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) (answered bool, err error) {
	if !f.undecided() || f.Session == "" || f.Gate != "" || ctx.Err() != nil {
		return false, nil //nolint:nilerr // a run that was stopped asks nothing
	}
	q := p.question()
	if err := c.makeRoom(q.brief, q.result, q.transcript, q.stderr, q.end); err != nil {
		return false, err
	}
	found := a.BriefInput
	found.Base = a.Base
	brief := reanchor.ResultQuestion{Why: f.noResult.summary, Changed: f.Head != "" && f.Head != a.Base}.Brief(found)
	if err := os.WriteFile(q.brief, withoutSecrets(c.o, brief), 0o600); err != nil {
		return false, err
	}
	a.Wall = shorter(a.Wall, resultWall)
	report, err := c.run(ctx, a, q, turn{sup: c.o.Supervisor, session: f.Session, used: f.used, before: f.Usage})
	if err != nil {
		return false, err
	}
	return f.recordAnswer(report), nil
}

// shorter is the shorter of two limits, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b < a {
		return b
	}
	return a
}

// resultLeft reads what an agent answered that was asked for its result by a relay that was killed.
func (c agentTurns) resultLeft(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) error {
	q := p.question()
	if !q.used() {
		return nil
	}
	sup, cut := afterwards(q)
	report, err := c.run(ctx, a, q, turn{sup: sup, ended: true, cut: cut, session: f.Session, used: f.used, before: f.Usage})
	if err != nil {
		return err
	}
	if !f.undecided() {
		f.spent(judge(report).Result)
		return nil
	}
	f.recordAnswer(report)
	return nil
}

// recordAnswer makes f what the agent said when it was asked for its result. What its provider or a person did meanwhile ends the
// attempt, at nobody's cost; its work is there for the next one.
func (f *state) recordAnswer(report runners.Report) (answered bool) {
	next := f.turned(report)
	f.noResult.asked = true
	f.used = next.used
	f.Notes = append(f.Notes, next.Notes...)
	f.spent(next.Result)
	switch {
	case report.Result != nil && (report.Outcome == runners.Claimed || report.Outcome == runners.Failed):
		f.Outcome, f.claimedFiles = next.Outcome, next.claimedFiles
		changed := f.Receipt
		f.Receipt = next.Receipt
		f.Receipt.Checks, f.Receipt.DiffStat, f.Receipt.FilesChanged = changed.Checks, "", nil // git is asked anew
		f.Receipt.ResultFrom = attempts.ResultAsked
		f.noResult = nil
		return true
	case next.Outcome.Charged(), report.Outcome == runners.NoSession, report.Outcome == runners.PermissionDenied:
		f.Receipt.ErrorSummary = fmt.Sprintf("%s, and gave none when it was asked once more", f.noResult.summary)
	default:
		f.Outcome, f.ResetAt = next.Outcome, next.ResetAt
		f.Receipt.ErrorCategory, f.Receipt.ErrorSummary = next.Receipt.ErrorCategory, next.Receipt.ErrorSummary
	}
	return false
}

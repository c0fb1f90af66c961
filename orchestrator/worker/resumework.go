package worker

import (
	"context"
	"fmt"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// firstTurn runs the agent from what an earlier attempt has left, if there is anything, and judges what it reports.
func (c agentTurns) firstTurn(ctx context.Context, a *engine.Attempt, p attemptFiles) (state, error) {
	if a.Ended && a.Previous.AwaitsReview() {
		if p.round(1).used() { // an agent was given what the reviewers have found
			f := resultOf(a.Previous, nil)
			err := c.followUp(ctx, *a, p, &f)
			return f, err
		}
		return c.stillMissing(ctx, *a, p)
	}
	notes, err := c.resumeWork(ctx, a)
	if err != nil {
		return state{}, err
	}
	if a.BriefInput.TakenUp > 0 && a.Previous.AwaitsReview() {
		a.BriefInput.TakenUp = 0 // what findings are about is committed then
		return resultOf(a.Previous, notes), nil
	}
	report, err := c.agent(ctx, *a, p)
	if err != nil {
		return state{}, err
	}
	f := judge(report)
	if engine.RunnerFault(f.Outcome) {
		c.emit(engine.Event{Task: a.Task.ID, Runner: a.Runner, Kind: engine.KindFault})
	}
	f.Notes = append(notes, f.Notes...)
	if len(a.Task.Checks) > 0 {
		f.presume(attempts.ResultChecks)
	}
	if a.Ended {
		if err := c.resultLeft(ctx, *a, p, &f); err != nil {
			return f, err
		}
		err = c.followUp(ctx, *a, p, &f)
	}
	return f, err
}

// resultOf returns the result of an earlier attempt whose work lacks nothing but its review: that it is done.
func resultOf(of attempts.Attempt, notes []attempts.Note) state {
	in := of.Receipt
	f := state{
		Result: engine.Result{Outcome: attempts.Success, Model: of.Model, Notes: notes}, earlier: in.Review.Earlier, answered: in.Review.Answer,
	}
	f.Receipt.Claimed, f.Receipt.Summary, f.Receipt.Suggestion = in.Claimed, in.Summary, in.Suggestion
	f.Receipt.Learning, f.Receipt.PatternTags, f.Receipt.Statement = in.Learning, in.PatternTags, in.Statement
	return f
}

// resumeWork puts what an earlier attempt has left into the checkout again, not committed, so that this one goes on from there.
// That is done only if it began where this one begins and nothing is in its way; else the brief says where it is kept.
func (c agentTurns) resumeWork(ctx context.Context, a *engine.Attempt) (notes []attempts.Note, err error) {
	if a.Previous.ID == 0 || c.tree == nil || ctx.Err() != nil {
		return nil, nil //nolint:nilerr // a run that was stopped takes nothing up
	}
	done, err := c.tree.ResumeWork(ctx, a.Base, a.Previous.Head)
	if err != nil || !done {
		return nil, err
	}
	a.BriefInput.TakenUp = a.Previous.ID
	text := fmt.Sprintf("goes on from what attempt %d had done when it was stopped", a.Previous.ID)
	switch {
	case a.Previous.Outcome == attempts.Tamper:
		text = fmt.Sprintf("goes on from what attempt %d had done, without its changes of protected files", a.Previous.ID)
	case a.Previous.AwaitsReview():
		text = fmt.Sprintf("what attempt %d had done is reviewed; no agent was asked to do it again", a.Previous.ID)
	}
	return []attempts.Note{{Kind: "salvage", Text: text}}, nil
}

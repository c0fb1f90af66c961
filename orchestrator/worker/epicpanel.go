package worker

import (
	"context"
	"errors"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/reanchor"
	"relay/review"
)

// Head returns the commit of the checkout.
func (c *checkout) Head(ctx context.Context) (string, error) { return c.repo.Head(ctx) }

// ReviewEpic has the panel judge all that has been done, in the checkout itself.
func (c *checkout) ReviewEpic(ctx context.Context, a engine.Attempt, head string, putOff []string) (engine.ReviewedEpic, error) {
	if err := c.beginJudging(a, head); err != nil {
		return engine.ReviewedEpic{}, err
	}
	return (&panelSession{c: c, a: a, folder: filesOf(c.o.Dir, a).review}).reviewEpic(ctx, head, putOff, c.cleanUp)
}

// Head returns the tip of the integration branch.
func (s *slotEngine) Head(context.Context) (string, error) { return s.tips.Tip(), nil }

// ReviewEpic has the panel judge all that has landed, each reviewer in a clean checkout of the tip.
func (s *slotEngine) ReviewEpic(ctx context.Context, a engine.Attempt, head string, putOff []string) (engine.ReviewedEpic, error) {
	s.agentsEnter()
	d := &panelSession{c: s.attemptIn("", s.home, a).c, a: a, folder: filesOf(s.o.Dir, a).review, room: s.reviewRoom(head)}
	return d.reviewEpic(ctx, head, putOff, s.cleanUp)
}

// reviewEpic asks the panel about the whole epic, and then has clean put right what its members have changed.
func (d *panelSession) reviewEpic(ctx context.Context, head string, putOff []string, clean func(context.Context, *state) error) (r engine.ReviewedEpic, err error) {
	f := state{Result: engine.Result{Outcome: attempts.Success, Head: head}}
	s, err := d.wholeSubject(ctx, head, putOff)
	if err != nil {
		return r, errors.Join(err, clean(ctx, &f))
	}
	said, missing, asking := d.askAll(ctx, s)
	r.Usage, f.Notes = d.usage, d.notes
	if err := errors.Join(asking, clean(ctx, &f)); err != nil {
		return r, err
	}
	f.Outcome = attempts.Success // what the panel has done to relay's files was put right, and is told
	r.Review = d.opinion(s, &f, said, missing)
	if d.unkept != (attempts.Usage{}) {
		r.Review.Usage = &d.unkept
	}
	r.Result = f.Result
	return r, nil
}

// wholeSubject is what the panel is asked about the epic.
func (d *panelSession) wholeSubject(ctx context.Context, head string, putOff []string) (review.Subject, error) {
	plan := d.c.o.Epic
	s := review.Subject{EpicTitle: plan.Title, Description: plan.Description, Base: d.a.Base, Head: head, PutOff: putOff}
	names, err := d.c.repo.Names(ctx, s.Base, head)
	var many *reanchor.TooManyError
	if err != nil && !errors.As(err, &many) {
		return s, err
	}
	for i := range names {
		s.Files = append(s.Files, names[i].Path)
	}
	stat, err := d.c.repo.Stat(ctx, s.Base, head)
	s.DiffStat = redact.Redactor{Redactor: d.c.o.Secrets}.Stat(strings.TrimSpace(stat), s.Files)
	for i := range plan.Tasks {
		t := &plan.Tasks[i]
		s.Tasks = append(s.Tasks, t.ID+": "+t.Title)
		for _, criterion := range t.Criteria {
			s.Criteria = append(s.Criteria, t.ID+": "+criterion.Text)
		}
	}
	return s, err
}

// opinion is what the panel came to. A reviewer that could not be asked, or gave no verdict, never approves.
func (d *panelSession) opinion(s review.Subject, f *state, said []attempts.Opinion, missing []*reviewerError) attempts.EpicReview {
	j := review.Judge(opinionsOf(said), review.Scope{Files: s.Files, Criteria: s.Criteria, Whole: true}, d.c.o.Review.Strictness)
	for i := range said {
		said[i].Decision = j.Votes[i].Decision
	}
	f.Receipt.Review = &attempts.Reviewed{Split: j.Split, Opinions: said, Deferred: j.Deferred, Noted: j.Noted}
	f.lack(said, missing)
	r := &attempts.EpicReview{Base: s.Base, Head: s.Head, Decision: j.Decision, Summary: j.Summary, Findings: j.Counted, Reviewed: *f.Receipt.Review}
	if len(missing) > 0 && (j.Decision == "" || j.Decision == review.Approved) {
		f.unreviewed(missing, "")
		r.Decision, r.Findings, r.Why = "", nil, f.Receipt.ErrorSummary
	}
	return *redact.Redactor{Redactor: d.c.o.Secrets}.EpicReview(r)
}

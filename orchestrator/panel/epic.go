package panel

import (
	"context"
	"errors"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/orchestrator/verdict"
	"relay/reanchor"
	"relay/review"
)

// ReviewEpic asks the panel about the whole epic up to head, and then has clean put right what its members have changed.
func (s *Session) ReviewEpic(
	ctx context.Context, head string, deferred []string, clean func(context.Context, *engine.Result) error,
) (r engine.ReviewedEpic, err error) {
	f := engine.Result{Outcome: verdict.EpicReviewed(), Head: head}
	about, err := s.epicSubject(ctx, head, deferred)
	if err != nil {
		return r, errors.Join(err, clean(ctx, &f))
	}
	answers, asking := s.Ask(ctx, about, attempts.Usage{})
	r.Usage, f.Notes = answers.Usage, answers.Notes
	if err := errors.Join(asking, clean(ctx, &f)); err != nil {
		return r, err
	}
	f.Outcome = verdict.EpicReviewed() // what the panel has done to relay's files was put right, and is told
	r.Review = s.epicReview(about, &f, answers)
	if s.unkept != (attempts.Usage{}) {
		r.Review.Usage = &s.unkept
	}
	r.Result = f
	return r, nil
}

// epicSubject returns what the panel is asked about the epic.
func (s *Session) epicSubject(ctx context.Context, head string, deferred []string) (review.Subject, error) {
	plan := s.Options.Epic
	about := review.Subject{EpicTitle: plan.Title, Description: plan.Description, Base: s.Attempt.Base, Head: head, Deferred: deferred}
	names, err := s.Repo.Names(ctx, about.Base, head)
	var many *reanchor.TooManyError
	if err != nil && !errors.As(err, &many) {
		return about, err
	}
	for i := range names {
		about.Files = append(about.Files, names[i].Path)
	}
	stat, err := s.Repo.Stat(ctx, about.Base, head)
	about.DiffStat = redact.Redactor{Redactor: s.Options.Secrets}.Stat(strings.TrimSpace(stat), about.Files)
	for i := range plan.Tasks {
		t := &plan.Tasks[i]
		about.Tasks = append(about.Tasks, t.ID+": "+t.Title)
		for _, criterion := range t.Criteria {
			about.Criteria = append(about.Criteria, t.ID+": "+criterion.Text)
		}
	}
	return about, err
}

// epicReview returns what the panel came to. A reviewer that could not be asked, or gave no verdict, never approves.
func (s *Session) epicReview(about review.Subject, f *engine.Result, answers Answers) attempts.EpicReview {
	j := Judge(answers.Opinions, review.Scope{Files: about.Files, Criteria: about.Criteria, Whole: true}, s.Options.Review.Strictness)
	f.Receipt.Review = &attempts.Reviewed{Split: j.Split, Opinions: answers.Opinions, Deferred: j.Deferred, Noted: j.Noted}
	answers.RecordMissing(f)
	r := &attempts.EpicReview{
		Base: about.Base, Head: about.Head, Decision: j.Decision, Summary: j.Summary, Findings: j.Counted, Reviewed: *f.Receipt.Review,
	}
	if len(answers.Missing) > 0 && (j.Decision == "" || j.Decision == review.Approved) {
		f.Rule(nil, verdict.NotReviewed(answers.Absent()))
		r.Decision, r.Findings, r.Why = "", nil, f.Receipt.ErrorSummary
	}
	return *redact.Redactor{Redactor: s.Options.Secrets}.EpicReview(r)
}

package redact

import (
	"slices"

	"relay/attempts"
	"relay/review"
)

// Reviewed cleans what reviewers said, which may quote anything.
func (r Redactor) Reviewed(in *attempts.Reviewed) *attempts.Reviewed {
	if in == nil {
		return nil
	}
	out := *in
	out.Deferred, out.Noted = r.raised(in.Deferred), r.raised(in.Noted)
	out.Opinions = slices.Clone(in.Opinions)
	for i := range out.Opinions {
		s := &out.Opinions[i]
		s.Model, s.Verdict.Summary = r.Line(s.Model), r.Block(s.Verdict.Summary)
		s.Verdict.Findings = slices.Clone(s.Verdict.Findings)
		for k, f := range s.Verdict.Findings {
			s.Verdict.Findings[k] = r.finding(f)
		}
		s.Verdict.Criteria = slices.Clone(s.Verdict.Criteria)
		for k, m := range s.Verdict.Criteria {
			s.Verdict.Criteria[k].Criterion, s.Verdict.Criteria[k].Evidence = r.Line(m.Criterion), r.Block(m.Evidence)
		}
	}
	out.Missing = slices.Clone(in.Missing)
	for i := range out.Missing {
		out.Missing[i].Why = r.Block(out.Missing[i].Why)
	}
	out.Earlier, out.Answer = r.Block(in.Earlier), r.Block(in.Answer)
	out.Proofs = slices.Clone(in.Proofs)
	for i := range out.Proofs {
		out.Proofs[i].Evidence = r.Block(out.Proofs[i].Evidence)
	}
	return &out
}

// EpicReview cleans what reviewers said of the whole epic.
func (r Redactor) EpicReview(in *attempts.EpicReview) *attempts.EpicReview {
	out := *in
	out.Summary, out.Why, out.Findings = r.Block(in.Summary), r.Block(in.Why), r.raised(in.Findings)
	out.Reviewed = *r.Reviewed(&in.Reviewed)
	return &out
}

// ReviewProgress returns a copy of the opinions and rounds of an attempt under way without secrets.
func (r Redactor) ReviewProgress(in attempts.ReviewProgress) *attempts.ReviewProgress {
	out := attempts.ReviewProgress{Opinions: r.Reviewed(&attempts.Reviewed{Opinions: in.Opinions}).Opinions, Rounds: slices.Clone(in.Rounds)}
	for i := range out.Rounds {
		out.Rounds[i].Wanted = r.raised(out.Rounds[i].Wanted)
	}
	return &out
}

func (r Redactor) raised(in []review.Raised) []review.Raised {
	out := slices.Clone(in)
	for i := range out {
		out[i].Finding = r.finding(out[i].Finding)
	}
	return out
}

func (r Redactor) finding(f review.Finding) review.Finding {
	f.File, f.Issue, f.Fix, f.Criterion = r.Line(f.File), r.Block(f.Issue), r.Block(f.Fix), r.Line(f.Criterion)
	return f
}

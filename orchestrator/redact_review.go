package orchestrator

import (
	"slices"

	"relay/attempts"
	"relay/review"
)

// reviewed cleans what reviewers said, which may quote anything.
func (r redactor) reviewed(in *attempts.Reviewed) *attempts.Reviewed {
	if in == nil {
		return nil
	}
	out := *in
	out.Deferred, out.Noted = r.raised(in.Deferred), r.raised(in.Noted)
	out.Said = slices.Clone(in.Said)
	for i := range out.Said {
		s := &out.Said[i]
		s.Model, s.Verdict.Summary = r.line(s.Model), r.text(s.Verdict.Summary)
		s.Verdict.Findings = slices.Clone(s.Verdict.Findings)
		for k, f := range s.Verdict.Findings {
			s.Verdict.Findings[k] = r.finding(f)
		}
		s.Verdict.Criteria = slices.Clone(s.Verdict.Criteria)
		for k, m := range s.Verdict.Criteria {
			s.Verdict.Criteria[k].Criterion, s.Verdict.Criteria[k].Evidence = r.line(m.Criterion), r.text(m.Evidence)
		}
	}
	out.Missing = slices.Clone(in.Missing)
	for i := range out.Missing {
		out.Missing[i].Why = r.text(out.Missing[i].Why)
	}
	out.Earlier, out.Answer = r.text(in.Earlier), r.text(in.Answer)
	out.Proofs = slices.Clone(in.Proofs)
	for i := range out.Proofs {
		out.Proofs[i].Evidence = r.text(out.Proofs[i].Evidence)
	}
	return &out
}

// epicReview cleans what reviewers said of the whole epic.
func (r redactor) epicReview(in *attempts.EpicReview) *attempts.EpicReview {
	out := *in
	out.Summary, out.Why, out.Findings = r.text(in.Summary), r.text(in.Why), r.raised(in.Findings)
	out.Reviewed = *r.reviewed(&in.Reviewed)
	return &out
}

// heard is reviewed for what they have said of an attempt under way.
func (r redactor) heard(in attempts.Heard) *attempts.Heard {
	out := attempts.Heard{Said: r.reviewed(&attempts.Reviewed{Said: in.Said}).Said, Rounds: slices.Clone(in.Rounds)}
	for i := range out.Rounds {
		out.Rounds[i].Wanted = r.raised(out.Rounds[i].Wanted)
	}
	return &out
}

func (r redactor) raised(in []review.Raised) []review.Raised {
	out := slices.Clone(in)
	for i := range out {
		out[i].Finding = r.finding(out[i].Finding)
	}
	return out
}

func (r redactor) finding(f review.Finding) review.Finding {
	f.File, f.Issue, f.Fix, f.Criterion = r.line(f.File), r.text(f.Issue), r.text(f.Fix), r.line(f.Criterion)
	return f
}

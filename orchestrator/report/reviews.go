package report

import (
	"slices"

	"relay/attempts"
	"relay/orchestrator/ending"
	"relay/review"
)

// reviewOf returns what reviewers said of an attempt; nil when nobody was asked.
func (m *builder) reviewOf(verdict review.Decision, in *attempts.Reviewed) *Review {
	if in == nil {
		in = &attempts.Reviewed{}
	}
	if verdict == "" && len(in.Opinions)+len(in.Missing)+len(in.Deferred)+len(in.Noted) == 0 {
		return nil
	}
	out := &Review{Verdict: verdict, Rounds: in.Rounds, Split: in.Split}
	for _, s := range in.Opinions {
		one := Reviewer{Name: m.line(s.Reviewer), Model: m.line(s.Model), Verdict: s.Decision, Summary: m.text(s.Verdict.Summary)}
		for _, f := range s.Verdict.Findings {
			if one.Findings == nil {
				one.Findings = map[review.Severity]int{}
			}
			one.Findings[f.Severity]++
		}
		out.Reviewers = append(out.Reviewers, one)
	}
	for _, s := range in.Missing {
		out.Missing = append(out.Missing, Missing{m.line(s.Reviewer), m.text(s.Why)})
	}
	for i, list := range [][]review.Raised{in.Deferred, in.Noted} {
		for _, f := range m.cleanFindings(list) {
			out.Deferred = append(out.Deferred, DeferredFinding{[]string{"minor", "outside"}[i], f})
		}
	}
	return out
}

func (m *builder) cleanFindings(list []review.Raised) []review.Raised {
	out := slices.Clone(list)
	for i := range out {
		f := &out[i]
		f.File, f.Issue, f.Fix = m.line(f.File), m.text(f.Issue), m.text(f.Fix)
		f.Criterion, f.By = m.line(f.Criterion), m.lines(slices.Clone(f.By))
	}
	return out
}

// epicReviews records the result of the newest review of the whole epic, and what the reviews of these runs have used.
func (m *builder) epicReviews() {
	for i := range m.Ledger.EpicReviews {
		r := &m.Ledger.EpicReviews[i]
		if r.Usage == nil {
			continue
		}
		m.r.EpicUsage.Add(*r.Usage)
		if slices.Contains(m.runs, r.Run) {
			m.r.Usage.Add(*r.Usage)
			m.shares.Add(&attempts.Attempt{Runner: "review of the epic", Usage: r.Usage})
		}
	}
	last := m.Ledger.LastEpicReview()
	if last == nil {
		return
	}
	m.r.Judged = &EpicReview{
		At: last.At, Run: last.Run, Base: m.line(last.Base), Head: m.line(last.Head), Text: m.text(ending.EpicVerdict(last)),
		Findings: m.cleanFindings(last.Findings), Added: m.lines(slices.Clone(last.Added)), Usage: last.Usage,
	}
	if judgement := m.reviewOf(last.Decision, &last.Reviewed); judgement != nil {
		m.r.Judged.Review = *judgement
	}
}

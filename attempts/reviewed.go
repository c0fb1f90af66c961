package attempts

import (
	"slices"

	"relay/review"
)

// Reviewed holds what a panel of reviewers did about an attempt, and how each acceptance criterion was proved.
type Reviewed struct {
	Rounds   int       `json:"rounds,omitempty" yaml:"rounds"`         // in which the agent mended what they found
	Split    bool      `json:"split,omitempty" yaml:"split,omitempty"` // some approve and others do not
	Opinions []Opinion `json:"said,omitempty" yaml:"said,omitempty"`   // in the last round
	Missing  []Missing `json:"missing,omitempty" yaml:"missing,omitempty"`
	// Earlier and Answer are what prompts quoted of the round before; kept only while some are missing, who must be
	// asked the same.
	Earlier  string          `json:"earlier,omitempty" yaml:"earlier,omitempty"`
	Answer   string          `json:"answer,omitempty" yaml:"answer,omitempty"`
	Deferred []review.Raised `json:"deferred,omitempty" yaml:"deferred,omitempty"`
	Noted    []review.Raised `json:"noted,omitempty" yaml:"noted,omitempty"` // about something else than the change
	Proofs   []review.Proof  `json:"proofs,omitempty" yaml:"proofs,omitempty"`
}

// Opinion is one reviewer's verdict, with a hash of what it was asked: the same question is not paid for twice.
type Opinion struct {
	Reviewer string          `json:"reviewer" yaml:"reviewer"`
	Model    string          `json:"model,omitempty" yaml:"model,omitempty"`
	Decision review.Decision `json:"decision" yaml:"decision"` // what its findings come to, by relay's rules
	Head     string          `json:"head" yaml:"head"`         // commit it judged
	Question string          `json:"question" yaml:"question"` // SHA-256, in hex, of the prompt with trees in place of commits
	Verdict  review.Verdict  `json:"verdict" yaml:"verdict"`
}

// ReviewProgress holds the opinions of an attempt's reviewers, and the rounds of changes they asked for, while it is under way.
type ReviewProgress struct {
	Opinions []Opinion `json:"said,omitempty"`
	Rounds   []Round   `json:"rounds,omitempty"` // that the agent has been given to mend what they found
}

// Round is one more turn of an attempt's agent, for what its reviewers want.
type Round struct {
	Number  int             `json:"number"` // from 1
	Head    string          `json:"head"`   // commit that the findings are about
	Verdict review.Decision `json:"verdict"`
	Wanted  []review.Raised `json:"wanted"`
}

// addReviewProgress appends opinions and rounds to those of an attempt under way; of any other it does nothing.
func (a *Attempt) addReviewProgress(more *ReviewProgress) {
	if more == nil || a.Result != ResultInProgress {
		return
	}
	var all ReviewProgress
	if a.ReviewProgress != nil {
		all = *a.ReviewProgress
	}
	a.ReviewProgress = &ReviewProgress{slices.Concat(all.Opinions, more.Opinions), slices.Concat(all.Rounds, more.Rounds)}
}

func (h *ReviewProgress) bounded() *ReviewProgress {
	if h == nil {
		return nil
	}
	out := ReviewProgress{(&Reviewed{Opinions: h.Opinions}).bounded().Opinions, slices.Clone(h.Rounds)}
	for i := range out.Rounds {
		out.Rounds[i].Wanted = boundedRaised(out.Rounds[i].Wanted)
	}
	return &out
}

// Missing is a reviewer without an opinion, through no fault of the agent.
type Missing struct {
	Reviewer string `json:"reviewer" yaml:"reviewer"`
	Why      string `json:"why" yaml:"why"`
}

// AwaitsReview reports whether nothing but a reviewer's opinion was missing.
func (r Receipt) AwaitsReview() bool {
	return r.Review != nil && len(r.Review.Missing) > 0 && r.Verdict == ""
}

// AwaitsReview reports whether the attempt's work only waits for its review: nobody needs to do it again.
func (a *Attempt) AwaitsReview() bool {
	over := a.Result == ResultFailure || a.Result == ResultInterrupted
	return over && !a.Charged && a.Head != "" && a.Receipt.Salvage != "" && a.Receipt.AwaitsReview()
}

// Most of what is kept of a review.
const (
	mostOpinions = 20
	mostFindings = 50
	mostProofs   = 100
	findingText  = 1000
	roundText    = 16 << 10
)

// bounded cuts what is too long for a ledger: the whole answers are in the attempt's folder.
func (r *Reviewed) bounded() *Reviewed {
	if r == nil {
		return nil
	}
	out := *r
	out.Deferred, out.Noted = boundedRaised(r.Deferred), boundedRaised(r.Noted)
	out.Opinions = make([]Opinion, 0, min(len(r.Opinions), mostOpinions))
	for _, s := range r.Opinions[:min(len(r.Opinions), mostOpinions)] {
		v := s.Verdict
		v.Summary, v.Findings, v.Criteria = Clean(v.Summary, findingText), nil, nil
		for _, f := range s.Verdict.Findings[:min(len(s.Verdict.Findings), mostFindings)] {
			v.Findings = append(v.Findings, boundedFinding(f))
		}
		for _, m := range s.Verdict.Criteria[:min(len(s.Verdict.Criteria), mostFindings)] {
			m.Criterion, m.Evidence = Clean(m.Criterion, findingText), Clean(m.Evidence, findingText)
			v.Criteria = append(v.Criteria, m)
		}
		s.Verdict = v
		out.Opinions = append(out.Opinions, s)
	}
	out.Missing = nil
	for _, m := range r.Missing[:min(len(r.Missing), mostOpinions)] {
		out.Missing = append(out.Missing, Missing{Clean(m.Reviewer, 100), Clean(m.Why, findingText)})
	}
	out.Earlier, out.Answer = Clean(r.Earlier, roundText), Clean(r.Answer, roundText)
	out.Proofs = make([]review.Proof, 0, min(len(r.Proofs), mostProofs))
	for _, p := range r.Proofs[:min(len(r.Proofs), mostProofs)] {
		p.Criterion, p.Evidence = Clean(p.Criterion, findingText), Clean(p.Evidence, findingText)
		out.Proofs = append(out.Proofs, p)
	}
	return &out
}

func boundedRaised(list []review.Raised) []review.Raised {
	var out []review.Raised
	for _, r := range list[:min(len(list), mostFindings)] {
		r.Finding = boundedFinding(r.Finding)
		out = append(out, r)
	}
	return out
}

func boundedFinding(f review.Finding) review.Finding {
	f.File, f.Issue = Clean(f.File, 500), Clean(f.Issue, findingText)
	f.Fix, f.Criterion = Clean(f.Fix, findingText), Clean(f.Criterion, findingText)
	return f
}

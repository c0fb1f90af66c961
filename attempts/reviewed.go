package attempts

import (
	"cmp"
	"slices"

	"relay/review"
)

// Reviewed holds what a panel of reviewers did about an attempt, and how each acceptance criterion was proved.
type Reviewed struct {
	Rounds   int       `json:"rounds,omitempty" yaml:"rounds"`                            // in which the agent mended what they found
	Split    bool      `json:"split,omitempty" yaml:"split,omitempty"`                    // some approve and others do not
	Opinions []Opinion `json:"said,omitempty" yaml:"said,omitempty" max:"1000" most:"50"` // in the last round
	Missing  []Missing `json:"missing,omitempty" yaml:"missing,omitempty" max:"1000" most:"20"`
	// Earlier and Answer are what prompts quoted of the round before; kept only while some are missing, who must be asked the same.
	Earlier  string          `json:"earlier,omitempty" yaml:"earlier,omitempty" text:"block"`
	Answer   string          `json:"answer,omitempty" yaml:"answer,omitempty" text:"block"`
	Deferred []review.Raised `json:"deferred,omitempty" yaml:"deferred,omitempty" max:"1000" most:"50"`
	Noted    []review.Raised `json:"noted,omitempty" yaml:"noted,omitempty" max:"1000" most:"50"` // about something else than the change
	Proofs   []review.Proof  `json:"proofs,omitempty" yaml:"proofs,omitempty" max:"1000" most:"100"`
}

// Opinion is one reviewer's verdict, with a hash of what it was asked: the same question is not paid for twice.
type Opinion struct {
	Reviewer string          `json:"reviewer" yaml:"reviewer" text:"own"`
	CLI      string          `json:"cli,omitempty" yaml:"cli,omitempty" text:"own"` // its type in the configuration
	Model    string          `json:"model,omitempty" yaml:"model,omitempty"`        // that it has reported, or was asked for
	Decision review.Decision `json:"decision" yaml:"decision"`                      // what its findings come to, by relay's rules
	Head     string          `json:"head" yaml:"head" text:"own"`                   // commit it judged
	Question string          `json:"question" yaml:"question" text:"own"`           // SHA-256, in hex, of the prompt with trees in place of commits
	Verdict  review.Verdict  `json:"verdict" yaml:"verdict"`
}

// ReviewProgress holds the opinions of an attempt's reviewers, and the rounds of changes they asked for, while it is under way.
type ReviewProgress struct {
	Opinions []Opinion `json:"said,omitempty" max:"1000" most:"50"`
	Rounds   []Round   `json:"rounds,omitempty"` // that the agent has been given to mend what they found
}

// Round is one more turn of an attempt's agent, for what its reviewers want.
type Round struct {
	Number  int             `json:"number"`          // from 1
	Head    string          `json:"head" text:"own"` // commit that the findings are about
	Verdict review.Decision `json:"verdict"`
	Wanted  []review.Raised `json:"wanted" max:"1000" most:"50"`
}

// heard appends opinions and rounds to those of the attempt under way, and notes its host; of any other it does nothing.
func (rec *TaskRecord) heard(e *Event) {
	a, more := rec.Running(), e.Reviewed
	if a == nil || a.ID != e.Attempt {
		return
	}
	if e.Briefed != nil {
		a.Receipt.Host = e.Briefed.Host
	}
	if more == nil {
		return
	}
	all := cmp.Or(rec.ReviewProgress, &ReviewProgress{})
	rec.ReviewProgress = &ReviewProgress{slices.Concat(all.Opinions, more.Opinions), slices.Concat(all.Rounds, more.Rounds)}
}

// Missing is a reviewer without an opinion, through no fault of the agent.
type Missing struct {
	Reviewer string `json:"reviewer" yaml:"reviewer" text:"own"`
	Why      string `json:"why" yaml:"why" text:"block"`
}

// AwaitsReview reports whether the attempt's work only waits for its review: the work itself is done.
func (a *Attempt) AwaitsReview() bool {
	over := a.Result == ResultFailure || a.Result == ResultInterrupted
	kept := a.Head != "" && (a.Receipt.Salvage != "" || a.Head == a.Base)
	return over && !a.Charged && kept && a.Receipt.AwaitsReview()
}

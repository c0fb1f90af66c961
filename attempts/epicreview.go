package attempts

import (
	"slices"
	"time"

	"relay/review"
)

// EpicReview holds what a panel of reviewers said of all that had landed, once every task was completed.
type EpicReview struct {
	Decision review.Decision `json:"decision,omitempty" yaml:"decision"` // "" : there is none, for what Why says
	At       time.Time       `json:"at,omitzero" yaml:"at"`              // when it ended
	Run      string          `json:"run,omitempty" yaml:"run" text:"own"`
	Base     string          `json:"base" yaml:"base" text:"own"` // commits; judged was base..head
	Head     string          `json:"head" yaml:"head" text:"own"`
	Why      string          `json:"why,omitempty" yaml:"why" max:"1000" text:"block"`
	Summary  string          `json:"summary,omitempty" yaml:"summary" max:"1000" text:"block"` // of the reviewer whose decision it is
	Reviewed `yaml:",inline"`
	Findings []review.Raised `json:"findings,omitempty" yaml:"findings" max:"1000" most:"50"` // that count; each is proposed as a task
	Usage    *Usage          `json:"usage,omitempty" yaml:"usage"`
	Added    []string        `json:"added,omitempty" yaml:"added" text:"own"` // tasks that were made of the findings
}

// TasksAdded records that the findings of the last epic review became tasks of the epic.
type TasksAdded struct {
	Tasks []string `json:"tasks"`
}

// LastEpicReview returns the newest one; nil when there is none.
func (l *Ledger) LastEpicReview() *EpicReview {
	if n := len(l.EpicReviews); n > 0 {
		return &l.EpicReviews[n-1]
	}
	return nil
}

// EpicRounds counts the epic reviews that have led to more tasks.
func (l *Ledger) EpicRounds() int {
	rounds := 0
	for i := range l.EpicReviews {
		if len(l.EpicReviews[i].Added) > 0 {
			rounds++
		}
	}
	return rounds
}

// judged folds an epic review. One that came to nothing makes way for the next, but for what it has cost and,
// while nothing has changed, what was said.
func (l *Ledger) judged(e *Event) {
	r := *e.EpicReviewed
	r.At, r.Run = e.At, e.Run
	for _, s := range r.Opinions {
		delete(l.Refused, s.Reviewer)
	}
	if last := l.LastEpicReview(); last != nil && last.Decision == "" {
		if last.Usage != nil {
			sum := *last.Usage
			if r.Usage != nil {
				sum.Add(*r.Usage)
			}
			r.Usage = &sum
		}
		if r.Decision == "" && r.Head == last.Head {
			r.Opinions = slices.Clone(r.Opinions)
			for _, s := range last.Opinions {
				if !slices.ContainsFunc(r.Opinions, func(o Opinion) bool { return o.Reviewer == s.Reviewer && o.Question == s.Question }) {
					r.Opinions = append(r.Opinions, s)
				}
			}
		}
		*last = r
		return
	}
	l.EpicReviews = append(l.EpicReviews, r)
}

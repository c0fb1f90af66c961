package status

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/ending"
	"relay/orchestrator/report"
	"relay/review"
)

// EpicReview is the result of the newest review of the whole epic.
type EpicReview struct {
	Decision review.Decision `json:"decision,omitempty"` // "": none, for what Why says
	Why      string          `json:"why,omitempty"`
	Summary  string          `json:"summary,omitempty"`
	Rounds   int             `json:"rounds"` // reviews whose findings became tasks
	Base     string          `json:"base"`
	Head     string          `json:"head"` // judged was base..head
	Findings []review.Raised `json:"findings,omitempty"`
	Added    []string        `json:"added,omitempty"` // tasks made of them

	text string
}

// addEpicReview adds the reviews of the whole epic, and what they have used.
func (s *Report) addEpicReview(l *attempts.Ledger) {
	for i := range l.EpicReviews {
		if u := l.EpicReviews[i].Usage; u != nil {
			s.Usage.Add(*u)
			s.Spenders.Add(&attempts.Attempt{Runner: "review of the epic", Usage: u})
		}
	}
	r := l.LastEpicReview()
	if r == nil {
		return
	}
	s.Judged = &EpicReview{
		Decision: r.Decision, Why: r.Why, Summary: r.Summary, Rounds: l.EpicRounds(), Base: r.Base, Head: r.Head,
		Findings: r.Findings, Added: r.Added, text: ending.EpicVerdict(r),
	}
}

// EpicReview prints the reviewers' verdict on the whole epic.
func (l Printer) EpicReview(w io.Writer, j *EpicReview) {
	if j == nil {
		return
	}
	fmt.Fprintf(w, "review %s\n", strings.TrimLeft(terminal.Wrap("the whole epic: "+j.text, l.Width, "       "), " "))
	switch {
	case j.Decision == "" || len(j.Added) > 0:
		fmt.Fprintln(w, "       "+report.Next(ending.EpicUnjudged))
	case len(j.Findings) > 0:
		fmt.Fprintln(w, "       relay init --append adds what the reviewers found as tasks")
	}
}

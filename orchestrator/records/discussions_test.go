package records

import (
	"fmt"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/review"
)

func split(decisions ...review.Decision) attempts.Reviewed {
	r := attempts.Reviewed{Split: true}
	for i, d := range decisions {
		v := review.Verdict{Decision: d, Summary: fmt.Sprintf("summary %d", i+1)}
		if d != review.Approved {
			v.Findings = []review.Finding{{Severity: review.High, File: "a.go", Line: 3, Issue: "it is wrong"}}
		}
		r.Opinions = append(r.Opinions, attempts.Opinion{Reviewer: fmt.Sprintf("reviewer%d", i+1), Decision: d, Verdict: v})
	}
	return r
}

func tried(task string, n int, e attempts.Ended) attempts.Event {
	return attempts.Event{Type: attempts.TypeAttemptEnded, Task: task, Attempt: n, Ended: &e}
}

const toldDiscussions = `2 open shop/T1/RUN/2/review: Reviewers disagree about T1
  Reviewers have judged attempt 1 of T1: Store orders
    Its files: a.go
  reviewer1 APPROVED: summary 1
  reviewer2 NEEDS CHANGES: summary 2
    high: a.go:3: it is wrong
2 open shop/T1/RUN/2/gate: T1 needs a person: Store orders
  relay has gated T1 (quality_gate_blocked): 2 of 2
    Its files: a.go
    The work of attempt 1 is kept as refs/x
  unknown, attempt 1 Stored: look at the test
  follows shop/T1/RUN/2/review
4 open shop/T2/RUN/4/gate: T2 needs a person: Totals are rounded
  relay has gated T2 (budget_exhausted): it has cost $2
5 note shop/T1/RUN/2/review shop/T1/RUN/2/gate: T1 was ungated by a person
6 note shop/T2/RUN/4/gate: T2 was ungated by a person: it is tried again from its beginning
7 open shop/T1/RUN/7/review: Reviewers disagree about T1
  Reviewers have judged attempt 2 of T1: Store orders
    Its files: a.go
  reviewer1 NEEDS CHANGES: summary 1
    high: a.go:3: it is wrong
  follows shop/T1/RUN/2/review
  follows shop/T1/RUN/2/gate
7 note shop/T1/RUN/2/review shop/T1/RUN/2/gate shop/T1/RUN/7/review: T1 was completed by attempt 2, as commit 1a2b3c
10 open shop//RUN/10/review: Reviewers disagree about The shop takes orders
  Reviewers have judged all that has landed, up to abcdefabcdef
  reviewer1 APPROVED: summary 1
  reviewer2 NEEDS CHANGES: summary 2
    high: a.go:3: it is wrong
`

// A task that needs a person and reviewers that disagree are discussed; what becomes of the task is noted, and what a person has decided
// opens nothing.
func TestDiscussions(t *testing.T) {
	t.Parallel()
	plan, err := epic.Read("epic.yml", []byte(planText))
	if err != nil {
		t.Fatal(err)
	}
	plan.Tasks[0].Files = []string{"a.go"}
	first, second := split(review.Approved, review.NeedsChanges), split(review.NeedsChanges)
	p := New(Options{EpicID: plan.ID, Plan: func(string) *epic.Epic { return plan }})
	var b strings.Builder
	for _, e := range night(run1, 1,
		began("c0"),
		tried("T1", 1, attempts.Ended{Result: attempts.ResultFailure, Gate: &attempts.Gate{Reason: attempts.QualityGateBlocked, Detail: "2 of 2"}, Receipt: attempts.Receipt{
			Summary: "Stored", Suggestion: "look at the test", Salvage: "refs/x", Review: &first,
		}}),
		attempts.Event{Type: attempts.TypeGated, Task: "T3", Gate: &attempts.Gate{Reason: attempts.UserBlocked, Detail: "later"}},
		attempts.Event{Type: attempts.TypeGated, Task: "T2", Gate: &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: "it has cost $2"}},
		attempts.Event{Type: attempts.TypeUngated, Task: "T1"},
		attempts.Event{Type: attempts.TypeReset, Task: "T2"},
		tried("T1", 2, attempts.Ended{Result: attempts.ResultSuccess, Landed: "1a2b3c", Receipt: attempts.Receipt{Review: &second}}),
		attempts.Event{Type: attempts.TypeReset, Task: "T1"},
		attempts.Event{Type: attempts.TypeUngated, Task: "T3"},
		attempts.Event{Type: attempts.TypeEpicReviewed, EpicReviewed: &attempts.EpicReview{Head: "abcdefabcdef01", Reviewed: split(review.Approved, review.NeedsChanges)}},
	) {
		for _, d := range p.Apply(&e).Discussions {
			if !d.At.Equal(e.At) {
				t.Errorf("%d: at %v", e.Seq, d.At)
			}
			tell(&b, e.Seq, &d)
		}
	}
	if got := strings.NewReplacer(run1, "RUN", plan.ID, "shop").Replace(b.String()); got != toldDiscussions {
		t.Errorf("%s", got)
	}
}

func tell(b *strings.Builder, seq uint64, d *Discussion) {
	o := d.Opening
	if o == nil {
		fmt.Fprintf(b, "%d note %s: %s\n", seq, strings.Join(d.Notes, " "), d.Note)
		return
	}
	slashes := strings.NewReplacer("\n", "\n    ")
	fmt.Fprintf(b, "%d open %s: %s\n  %s\n", seq, o.Origin, o.Topic, slashes.Replace(o.Summary))
	for _, position := range o.Positions {
		fmt.Fprintf(b, "  %s %s: %s\n", position.By, position.Stance, slashes.Replace(position.Rationale))
	}
	for _, origin := range o.Follows {
		fmt.Fprintf(b, "  follows %s\n", origin)
	}
}

package attempts

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/review"
)

func judgement(rng *rand.Rand) *EpicReview {
	r := anyReview(rng)
	r.Rounds, r.Earlier, r.Answer, r.Proofs = 0, "", "", nil // an epic's has none
	return &EpicReview{
		Base: "c0ffee", Head: "f00d", Decision: review.NeedsChanges, Why: anyText(rng), Summary: anyText(rng),
		Findings: r.Deferred, Reviewed: *r, Usage: &Usage{InputTokens: 7, OutputTokens: 1, CostUSD: 0.5},
	}
}

// What was said of a whole epic is in the ledger as it is in the log, whatever the words.
func TestEpicReviewRoundTrip(t *testing.T) {
	t.Parallel()
	_, g := plan(t, 2)
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		f := newFold(g, nil)
		events := []Event{{Type: TypeEpicReviewed, EpicReviewed: judgement(rng)}, {Type: TypeTasksAdded, TasksAdded: &TasksAdded{Tasks: []string{"R1"}}}, {Type: TypeEpicReviewed, EpicReviewed: judgement(rng)}}
		for i, ev := range events {
			ev.Seq, ev.At, ev.Run = uint64(i+1), clock()(), run1
			_, back, err := encode(nil, ev)
			must(t, err)
			f.apply(&back)
		}
		must(t, roundTrip(f, g))
		text, err := rendered(f)
		must(t, err)
		p, err := parseLedger([]byte(text))
		must(t, err)
		if !strings.Contains(text, "\nepic_reviews:\n  - decision: \"NEEDS CHANGES\"\n    at: \"2026-") {
			t.Fatalf("got\n%s", text)
		}
		if !sameJSON(p.ledger.EpicReviews, f.ledger.EpicReviews) {
			t.Fatalf("seed %d: got %+v, want %+v in\n%s", seed, p.ledger.EpicReviews, f.ledger.EpicReviews, text)
		}
		if f.ledger.EpicRounds() != 1 || len(f.ledger.EpicReviews) != 2 {
			t.Fatalf("got %d rounds, %d reviews", f.ledger.EpicRounds(), len(f.ledger.EpicReviews))
		}
	}
}

// A review that came to nothing makes way for the next one; what it cost counts.
func TestEpicReviewThatFailed(t *testing.T) {
	t.Parallel()
	f := newFold(nil, nil)
	for i, r := range []*EpicReview{{Why: "limit", Usage: &Usage{CostUSD: 1}}, {Why: "limit"}, {Decision: review.Approved, Usage: &Usage{CostUSD: 2}}, {Decision: review.Blocked}} {
		f.apply(&Event{Seq: uint64(i + 1), At: clock()(), Type: TypeEpicReviewed, EpicReviewed: r})
	}
	got := f.ledger.EpicReviews
	if len(got) != 2 || got[0].Decision != review.Approved ||
		got[0].Usage.CostUSD != 3 || f.ledger.LastEpicReview().Decision != review.Blocked {
		t.Errorf("got %+v", got)
	}
	f.apply(&Event{Seq: 9, Type: TypeTasksAdded, TasksAdded: &TasksAdded{Tasks: []string{"R1", "R2"}}})
	if last := f.ledger.LastEpicReview(); len(last.Added) != 2 || f.ledger.EpicRounds() != 1 {
		t.Errorf("got %+v", last)
	}
}

// A ledger without its logs still knows what the reviewers said, and so does the log that is made of it.
func TestEpicReviewWithoutLogs(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	s := b.open(t, run1)
	long := judgement(rand.New(rand.NewPCG(1, 2)))
	long.Findings[0].Issue = strings.Repeat("long ", 200_000)
	must(t, s.Append(Event{Type: TypeEpicReviewed, EpicReviewed: long}))
	must(t, s.Close())
	want := b.read(t).Ledger.EpicReviews
	if len(want) != 1 || len(want[0].Findings[0].Issue) > 1000 {
		t.Fatalf("got %d reviews, %d bytes", len(want), len(want[0].Findings[0].Issue))
	}
	for _, gone := range []string{RunsDir, LedgerFile} {
		must(t, os.RemoveAll(filepath.Join(b.dir, gone)))
		must(t, b.open(t, run2).Close())
		if got := b.read(t).Ledger.EpicReviews; !sameJSON(got, want) {
			t.Errorf("without %s: got %+v, want %+v", gone, got, want)
		}
	}
}

// While nothing has changed, an answer stays known until the review is over.
func TestEpicReviewAnswersAddUp(t *testing.T) {
	t.Parallel()
	f := newFold(nil, nil)
	says := func(head string, who ...string) *EpicReview {
		r := &EpicReview{Head: head, Why: "not over", Usage: &Usage{CostUSD: 1}}
		for _, name := range who {
			r.Opinions = append(r.Opinions, Opinion{Reviewer: name, Question: head})
		}
		return r
	}
	for i, step := range []struct {
		r    *EpicReview
		want string
	}{{says("a", "ann"), "ann"}, {says("a", "bob"), "bob ann"}, {says("a", "ann"), "ann bob"}, {says("b", "bob"), "bob"}} {
		f.apply(&Event{Seq: uint64(i + 1), At: clock()(), Type: TypeEpicReviewed, EpicReviewed: step.r})
		var got []string
		for _, s := range f.ledger.LastEpicReview().Opinions {
			got = append(got, s.Reviewer)
		}
		if strings.Join(got, " ") != step.want || f.ledger.LastEpicReview().Usage.CostUSD != float64(i+1) {
			t.Errorf("step %d: %q, want %q; %v", i, got, step.want, f.ledger.LastEpicReview().Usage)
		}
	}
}

package attempts

import (
	"testing"

	"relay/review"
)

// Only work that nobody has refused, and that is kept, waits for its review.
func TestAwaitsReview(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Attempt)
		want   bool
	}{
		"an opinion is missing":      {func(*Attempt) {}, true},
		"stopped while it was read":  {func(a *Attempt) { a.Result = ResultInterrupted }, true},
		"another one has refused it": {func(a *Attempt) { a.Receipt.Verdict = review.NeedsChanges }, false},
		"charged":                    {func(a *Attempt) { a.Charged = true }, false},
		"nothing is kept":            {func(a *Attempt) { a.Receipt.Salvage = "" }, false},
		"under way":                  {func(a *Attempt) { a.Result = ResultInProgress }, false},
		"completed":                  {func(a *Attempt) { a.Result = ResultSuccess }, false},
		"nobody is missing":          {func(a *Attempt) { a.Receipt.Review.Missing = nil }, false},
		"not reviewed":               {func(a *Attempt) { a.Receipt.Review = nil }, false},
	} {
		a := awaiting()
		c.change(&a)
		if got := a.AwaitsReview(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func awaiting() Attempt {
	return Attempt{ID: 1, Result: ResultFailure, Outcome: Environment, Head: "c0ffee", Receipt: Receipt{
		Salvage: "refs/relay/kept", Review: &Reviewed{Missing: []Missing{{Reviewer: "bob", Why: "no verdict"}}},
	}}
}

// An ungate leaves work that waits for its review to be reviewed, and has the rest begin anew.
func TestUngateKeepsWhatWaitsForReview(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason Reason
		last   Attempt
		want   int
	}{
		"waits for its review":  {Infrastructure, awaiting(), 1},
		"gated for its budget":  {BudgetExhausted, awaiting(), 2},
		"gated by a person":     {UserBlocked, awaiting(), 2},
		"failed by its machine": {Infrastructure, Attempt{ID: 1, Result: ResultFailure, Outcome: Environment}, 2},
	} {
		rec := TaskRecord{Gate: &Gate{Reason: c.reason}, Attempts: []Attempt{{ID: 1, Result: ResultFailure}, c.last}}
		if rec.ungate(); rec.Gate != nil || rec.CountFrom != c.want {
			t.Errorf("%s: gate %v, counted from %d; want none, from %d", name, rec.Gate, rec.CountFrom, c.want)
		}
	}
	none := TaskRecord{Gate: &Gate{Reason: Infrastructure}}
	if none.ungate(); none.CountFrom != 0 {
		t.Errorf("counted from %d without any attempt", none.CountFrom)
	}
}

// What reviewers of an attempt under way have said is known to the next run, until the attempt has ended.
func TestHeardOfAnAttemptUnderWay(t *testing.T) {
	t.Parallel()
	_, g := plan(t, 1)
	f := newFold(g, nil)
	heard := func(h ReviewProgress) Event { return Event{Type: TypeReviewed, Task: "T1", Attempt: 1, Reviewed: &h} }
	said := func(names ...string) (list []Opinion) {
		for _, name := range names {
			list = append(list, Opinion{Reviewer: name})
		}
		return list
	}
	events := []Event{
		started("T1", 1), heard(ReviewProgress{Opinions: said("ann")}), heard(ReviewProgress{Opinions: said("bob")}),
		heard(ReviewProgress{Rounds: []Round{{Number: 1, Head: "c0ffee"}}}), heard(ReviewProgress{Opinions: said("ann")}),
	}
	for i, e := range events {
		e.Seq = uint64(i + 1)
		line, back, err := encode(nil, e)
		must(t, err)
		if back.Reviewed == nil && e.Reviewed != nil {
			t.Fatalf("%s came back as %+v", line, back)
		}
		f.apply(&back)
	}
	at := f.ledger.Tasks["T1"]
	if h := at.ReviewProgress; h == nil || len(h.Opinions) != 3 || h.Opinions[1].Reviewer != "bob" || len(h.Rounds) != 1 || h.Rounds[0].Head != "c0ffee" {
		t.Errorf("heard is %+v, want three answers and a round", at.ReviewProgress)
	}
	end := succeeded("T1", 1)
	f.apply(&end)
	if at.ReviewProgress != nil {
		t.Errorf("after its end the attempt has %+v", at.ReviewProgress)
	}
	stray := heard(ReviewProgress{Opinions: said("eve")})
	stray.Attempt = 7
	if f.apply(&stray); len(f.ledger.Tasks["T1"].Attempts) != 1 {
		t.Errorf("an answer about an attempt that never began made one: %+v", f.ledger.Tasks["T1"].Attempts)
	}
	late := heard(ReviewProgress{Opinions: said("eve")})
	if f.apply(&late); at.ReviewProgress != nil {
		t.Errorf("an answer after its end is %+v", at.ReviewProgress)
	}
}

package attempts

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"relay/epic"
	"relay/review"
)

// anyEvent makes an event that may come next, sense or not.
func anyEvent(rng *rand.Rand, e *epic.Epic) Event {
	task := e.Tasks[rng.IntN(len(e.Tasks))].ID
	n := rng.IntN(3) + 1
	switch rng.IntN(12) {
	case 0:
		return Event{Type: TypeGated, Task: task, Gate: &Gate{Reason: UserBlocked}}
	case 1:
		return Event{Type: TypeUngated, Task: task}
	case 2:
		return Event{Type: TypeReset, Task: task}
	case 3:
		return Event{Type: TypeAccepted, Accepted: &Accepted{Tasks: map[string]TaskRecord{task: {Completed: rng.IntN(2) == 0}}}}
	case 4, 5:
		return started(task, n)
	case 6:
		ended := failed(task, n, anyText(rng))
		ended.Ended.Gate = &Gate{Reason: MaxAttempts, Detail: anyText(rng)}
		return ended
	case 7:
		return Event{Type: "from the future", Task: task}
	case 8:
		return landing(task, n)
	case 9:
		integration := fmt.Sprintf("relay/%s%d", e.ID, rng.IntN(2))
		return Event{
			Type:       TypeRunStarted,
			RunStarted: &RunStarted{EpicID: e.ID, Integration: integration, Branch: anyText(rng), Base: anyText(rng), Sealed: anyText(rng)},
		}
	case 10:
		return Event{Type: TypeUndone, Task: task, Attempt: n, Undone: &Undone{
			At: clock()(), Tip: anyText(rng), Since: []string{anyText(rng)},
			Check: CheckRun{Name: anyText(rng), ExitCode: 1, Tail: anyText(rng)},
		}}
	}
	return succeeded(task, n)
}

// anyText is what an agent may say.
func anyText(rng *rand.Rand) string {
	parts := []string{"a", "\n", " ", ": ", "- ", "#", "\t", "'", "\"", "\\", "é", "😀", "\u2028", "\u0085", "\ufeff", "{", "|", ">", "%", "---\n", "\r\n", "null", "~", "0x1f", "1e3", "2026-01-11", "\x00", "\x1b[31m", "<<", "&a", "*a", "!!x", "yes", "\ufffd", "\ufffe", "\U000fffff"}
	text := ""
	for range rng.IntN(6) {
		text += parts[rng.IntN(len(parts))]
	}
	return text
}

// What is kept up to date event by event is what one would compute from the records.
func TestFoldKeepsCountsRight(t *testing.T) {
	t.Parallel()
	e, _ := plan(t, 12)
	e.Groups = []epic.Group{{Name: "a", Tasks: []string{"T1", "T2"}}, {Name: "b", Tasks: []string{"T10", "T11"}, BlockedBy: []string{"a"}}, {Name: "c", Tasks: []string{"T12"}, BlockedBy: []string{"b"}}}
	g, err := epic.NewGraph(e)
	must(t, err)
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := newFold(g, nil)
		for seq := range uint64(200) {
			ev := anyEvent(rng, e)
			ev.Seq = seq + 1
			f.apply(&ev)
			want := map[Status]int{}
			for i := range g.Len() {
				s := f.ledger.StatusOf(g, g.ID(i))
				want[s]++
				if f.tasks.states[i] != s {
					t.Fatalf("seed %d, event %d: task %s: got %s, want %s", seed, seq, g.ID(i), f.tasks.states[i], s)
				}
			}
			if !maps.Equal(f.tasks.counts, want) {
				t.Fatalf("seed %d, event %d: got %v, want %v", seed, seq, f.tasks.counts, want)
			}
		}
	}
}

// The ledger file holds everything the fold does, whatever the texts are.
func TestLedgerRoundTrip(t *testing.T) {
	t.Parallel()
	e, g := plan(t, 6)
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		f := newFold(g, nil)
		for seq := range uint64(25) {
			ev := anyEvent(rng, e)
			anyTexts(rng, &ev)
			ev.Seq, ev.At, ev.Run = seq+1, clock()(), run1
			_, back, err := encode(nil, ev)
			must(t, err)
			f.apply(&back)
		}
		f.ledger.EpicID = anyText(rng)
		if err := roundTrip(f, g); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// anyTexts fills an event with what agents and checks may say.
func anyTexts(rng *rand.Rand, ev *Event) {
	if ev.Started != nil {
		ev.Started.Sealed = anyText(rng)
	}
	for _, e := range []*Ended{ev.Ended, ev.Landing} {
		if e == nil {
			continue
		}
		e.Receipt.Summary, e.Receipt.Findings = anyText(rng), anyText(rng)
		e.Receipt.FilesChanged = []string{anyText(rng), anyText(rng)}
		e.Receipt.Checks = append(e.Receipt.Checks, CheckRun{Name: anyText(rng), Tail: anyText(rng) + "\n" + anyText(rng), Seconds: rng.Float64() * 1e-7, FailedTests: rng.IntN(3), RanTests: rng.IntN(3), Attribution: Attribution(anyText(rng))})
		if rng.IntN(2) == 0 {
			e.Receipt.Review = anyReview(rng)
		}
		e.Session, e.Model, e.Landed, e.Cause = anyText(rng), anyText(rng), anyText(rng), anyText(rng)
	}
}

// What reviewers said stands in the ledger under the names that the log has.
func TestReviewInTheLedger(t *testing.T) {
	t.Parallel()
	_, g := plan(t, 1)
	f := newFold(g, nil)
	end := succeeded("T1", 1)
	found := review.Finding{Severity: review.Low, File: "a.go", Line: 3, Issue: "a typo", Fix: "mend it", Criterion: "1"}
	end.Ended.Receipt.Review = &Reviewed{
		Rounds: 1, Split: true,
		Opinions: []Opinion{{Reviewer: "ann", Decision: review.Approved, Head: "c0ffee", Question: "ab12", Verdict: review.Verdict{Decision: review.NeedsChanges, Findings: []review.Finding{found}, Criteria: []review.Mark{{Criterion: "1", Met: true, Evidence: "a.go"}}}}},
		Missing:  []Missing{{Reviewer: "bob", Why: "overloaded"}},
		Earlier:  "## Finding 1: a typo\n",
		Answer:   "Mended it.",
		Deferred: []review.Raised{{Finding: found, By: []string{"ann"}}},
		Proofs:   []review.Proof{{Criterion: "it works", By: review.ByReview, Met: true, Commit: "c0ffee", Reviewers: []string{"ann"}, Evidence: "a.go"}},
	}
	for i, e := range []Event{started("T1", 1), end} {
		e.Seq = uint64(i + 1)
		f.apply(&e)
	}
	text, err := rendered(f)
	must(t, err)
	const want = `        review:
          rounds: 1
          split: true
          said:
            - reviewer: ann
              decision: APPROVED
              head: c0ffee
              question: ab12
              verdict:
                verdict: "NEEDS CHANGES"
                findings:
                  - severity: low
                    file: a.go
                    line: 3
                    issue: "a typo"
                    fix: "mend it"
                    criterion: "1"
                criteria:
                  - criterion: "1"
                    met: true
                    evidence: a.go
          missing:
            - reviewer: bob
              why: overloaded
          earlier: "## Finding 1: a typo\n"
          answer: "Mended it."
          deferred:
            - severity: low
              file: a.go
              line: 3
              issue: "a typo"
              fix: "mend it"
              criterion: "1"
              by:
                - ann
          proofs:
            - criterion: "it works"
              by: review
              met: true
              commit: c0ffee
              reviewers:
                - ann
              evidence: a.go
`
	if !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant in it\n%s", text, want)
	}
	if err := roundTrip(f, g); err != nil {
		t.Error(err)
	}
}

func anyReview(rng *rand.Rand) *Reviewed {
	found := review.Finding{Severity: review.High, File: anyText(rng), Line: rng.IntN(9), Issue: anyText(rng) + "\n" + anyText(rng), Fix: anyText(rng), Criterion: anyText(rng)}
	return &Reviewed{
		Rounds: rng.IntN(3), Split: rng.IntN(2) == 0,
		Opinions: []Opinion{{Reviewer: anyText(rng), Model: anyText(rng), Decision: review.Approved, Head: "c0ffee", Question: "ab", Verdict: review.Verdict{
			Decision: review.NeedsChanges, Summary: anyText(rng), Findings: []review.Finding{found, {}},
			Criteria: []review.Mark{{Criterion: anyText(rng), Met: true, Evidence: anyText(rng)}},
		}}},
		Missing: []Missing{{Reviewer: anyText(rng), Why: anyText(rng)}}, Earlier: anyText(rng) + "\n" + anyText(rng), Answer: anyText(rng),
		Deferred: []review.Raised{{Finding: found, By: []string{anyText(rng)}}}, Noted: []review.Raised{{Finding: found}},
		Proofs: []review.Proof{
			{Criterion: anyText(rng), By: review.ByCheck, Check: anyText(rng), ExitCode: 1, Log: anyText(rng)}, {By: review.Unproven},
		},
	}
}

func roundTrip(f *fold, g *epic.Graph) error {
	text, err := rendered(f)
	if err != nil {
		return err
	}
	p, err := parseLedger([]byte(text))
	if err != nil {
		return fmt.Errorf("%w in\n%s", err, text)
	}
	if len(p.odd) > 0 {
		return fmt.Errorf("%q in\n%s", p.odd, text)
	}
	for id, rec := range f.ledger.Tasks {
		if !sameJSON(rec, p.ledger.Tasks[id]) {
			return fmt.Errorf("task %s: got %+v, want %+v in\n%s", id, p.ledger.Tasks[id], rec, text)
		}
	}
	if f.ledger.Integration != p.ledger.Integration {
		return fmt.Errorf("got %+v, want %+v in\n%s", p.ledger.Integration, f.ledger.Integration, text)
	}
	next := newFold(g, p.ledger)
	next.extra = p.extra
	again, err := rendered(next)
	if err != nil || again != text {
		return fmt.Errorf("%w: got\n%s\nwant\n%s", err, again, text)
	}
	return nil
}

func rendered(f *fold) (string, error) {
	var b writerBuffer
	err := f.render(&b)
	return string(b), err
}

type writerBuffer []byte

func (b *writerBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func TestRootCauses(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{Version: 2, ID: "20260111-plan", Title: "Plan"}
	for id, deps := range map[string][]string{"A": nil, "B": {"A"}, "C": nil, "D": {"B", "C"}, "E": {"D"}, "F": {"C"}} {
		e.Tasks = append(e.Tasks, epic.Task{ID: id, Title: id, Priority: 2, Kind: epic.KindFeature, DependsOn: deps, Criteria: []epic.Criterion{{Text: "x"}}})
	}
	slices.SortFunc(e.Tasks, func(a, b epic.Task) int { return int(a.ID[0]) - int(b.ID[0]) })
	g, err := epic.NewGraph(e)
	must(t, err)
	gate := &Gate{Reason: UserBlocked}
	l := &Ledger{Tasks: map[string]*TaskRecord{"A": {Gate: gate}, "C": {Completed: true}, "D": {Gate: gate}}}
	if got, want := fmt.Sprint(AllRootCauses(l, g)), "[[] [A] [] [A] [D] []]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A chain of 10,000 tasks is no deeper than any other.
func TestRootCausesOfALongChain(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{Version: 2, ID: "20260111-plan", Title: "Plan"}
	for i := range 10000 {
		task := epic.Task{ID: fmt.Sprintf("T%d", i), Title: "x", Priority: 2, Kind: epic.KindFeature, Criteria: []epic.Criterion{{Text: "x"}}}
		if i > 0 {
			task.DependsOn = []string{fmt.Sprintf("T%d", i-1)}
		}
		e.Tasks = append(e.Tasks, task)
	}
	g, err := epic.NewGraph(e)
	must(t, err)
	l := &Ledger{Tasks: map[string]*TaskRecord{"T0": {Gate: &Gate{Reason: UserBlocked}}}}
	if got := AllRootCauses(l, g)[9999]; !slices.Equal(got, []string{"T0"}) {
		t.Errorf("got %v", got)
	}
}

// The time the last task was completed is when the epic ended, until it is not complete any more.
func TestEndedAt(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	s := b.open(t, run1)
	ended := func() (zero bool) {
		s.View(func(l *Ledger) { zero = l.EndedAt.IsZero() })
		return !zero
	}
	must(t, s.Append(succeeded("T1", 1)))
	if ended() {
		t.Error("ended with a task left")
	}
	must(t, s.Append(succeeded("T2", 1)))
	if !ended() {
		t.Error("not ended")
	}
	must(t, s.Append(Event{Type: TypeReset, Task: "T1"}))
	if ended() {
		t.Error("still ended")
	}
	must(t, s.Close())
}

// Work that has been undone is pending again, with what it failed for, and earlier charges no longer count.
func TestUndone(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	s := b.open(t, run1)
	undone := &Undone{At: clock()(), Tip: "0ff", Since: []string{"T2"}, Check: CheckRun{Name: "go test ./a", ExitCode: 1, Tail: "--- FAIL: TestA"}}
	must(t, s.Append(failed("T1", 1, "no"), succeeded("T1", 2), Event{Type: TypeUndone, Task: "T1", Attempt: 2, Undone: undone},
		Event{Type: TypeUndone, Task: "T2", Attempt: 1, Undone: undone})) // T2 has never been completed
	must(t, s.Close())
	v, err := Read(b.dir, b.e, b.g)
	must(t, err)
	rec := v.Ledger.Tasks["T1"]
	if rec.Completed || rec.Charges() != 0 || rec.TimesUndone() != 1 || rec.Attempts[1].Undone.Check.Tail != undone.Check.Tail {
		t.Errorf("got completed %v, %d charges, undone %d times, %+v", rec.Completed, rec.Charges(), rec.TimesUndone(), rec.Attempts[1].Undone)
	}
	if got := v.Ledger.Tasks["T2"].TimesUndone(); got != 0 {
		t.Errorf("T2 was undone %d times, without having been completed", got)
	}
}

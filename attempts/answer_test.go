package attempts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// asking is the end of an attempt whose agent asks a person.
func asking(task string, n int, questions ...string) Event {
	e := failed(task, n, strings.Join(questions, "; "))
	e.Ended.Result, e.Ended.Outcome, e.Ended.Charged = ResultInterrupted, Asked, false
	e.Ended.Receipt.Questions, e.Ended.Gate = questions, &Gate{Reason: AwaitsAnswer, Detail: questions[0]}
	return e
}

// An answer lifts the gate that waits for it and no other, is in the ledger, and survives the loss of the logs.
func TestAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	s := b.open(t, run1)
	must(t, s.Append(started("T1", 1), asking("T1", 1, "Which port?", "Which host?")))
	rec := s.Task("T1")
	if got := rec.OpenQuestions(); !slices.Equal(got, []string{"Which port?", "Which host?"}) || rec.Gate == nil {
		t.Fatalf("before the answer: open %q, gate %v", got, rec.Gate)
	}
	must(t, s.Append(Event{Type: TypeAnswered, Task: "T1", Answer: rec.AnswerTo("8080, on localhost")}))
	must(t, s.Append(Event{Type: TypeGated, Task: "T2", Gate: &Gate{Reason: UserBlocked}}, Event{Type: TypeAnswered, Task: "T2", Answer: &Answer{Text: "later"}}))
	check := func(when string, rec, other TaskRecord) {
		t.Helper()
		if rec.OpenQuestions() != nil || rec.Gate != nil || len(rec.Answers) != 1 || rec.Answers[0].Question != "Which port?\nWhich host?" {
			t.Errorf("%s: %+v", when, rec)
		}
		if other.Gate == nil || len(other.Answers) != 1 {
			t.Errorf("%s: an answer lifts another gate: %+v", when, other)
		}
	}
	check("after the answer", s.Task("T1"), s.Task("T2"))
	must(t, s.Close())
	must(t, os.RemoveAll(filepath.Join(b.dir, RunsDir)))
	s = b.open(t, run2)
	check("without logs", s.Task("T1"), s.Task("T2"))
	for range 2 * mostAnswers {
		must(t, s.Append(Event{Type: TypeAnswered, Task: "T2", Answer: &Answer{Text: "again"}}))
	}
	if n := len(s.Task("T2").Answers); n != mostAnswers {
		t.Errorf("%d answers are kept, not %d", n, mostAnswers)
	}
	must(t, s.Close())
}

// A completed task has the questions of the attempt that completed it open, and of no earlier one.
func TestOpenQuestionsOfCompletedTasks(t *testing.T) {
	t.Parallel()
	asked := Attempt{Outcome: Asked, Receipt: Receipt{Statement: Statement{Questions: []string{"Which port?"}}}}
	rec := TaskRecord{Attempts: []Attempt{asked, {Result: ResultFailure}}}
	if got := rec.OpenQuestions(); len(got) != 1 {
		t.Errorf("after a failure %q are open", got)
	}
	rec.Attempts = append(rec.Attempts, Attempt{Result: ResultSuccess})
	if got := rec.OpenQuestions(); got != nil {
		t.Errorf("completed without a question, %q are open", got)
	}
}

// A task that a person holds while it asks stays held when it is answered. Ungated, it has the asking attempt to continue.
func TestHeldTaskAsks(t *testing.T) {
	t.Parallel()
	_, g := plan(t, 1)
	f := newFold(g, nil)
	rec := f.record("T1")
	held := Event{Type: TypeGated, Task: "T1", Gate: &Gate{Reason: UserBlocked}}
	for _, e := range []Event{started("T1", 1), held, asking("T1", 1, "Which port?"), {Type: TypeAnswered, Task: "T1", Answer: &Answer{Text: "8080"}}} {
		f.apply(&e)
	}
	if rec.Gate == nil || rec.Gate.Reason != UserBlocked || rec.OpenQuestions() != nil {
		t.Fatalf("held and answered: %+v", rec)
	}
	f.apply(&Event{Type: TypeUngated, Task: "T1"})
	if rec.Gate != nil || len(rec.SinceReset()) != 1 {
		t.Errorf("ungated: %+v", rec)
	}
}

// An answer counts from its place in the log: a clock that was set back loses neither a question nor its answer.
func TestAnswerByALateClock(t *testing.T) {
	t.Parallel()
	_, g := plan(t, 1)
	f := newFold(g, nil)
	early := Event{Type: TypeAnswered, Task: "T1", Answer: &Answer{Text: "8080"}}
	ask, again := asking("T1", 1, "Which port?"), asking("T1", 2, "Which host?")
	ask.At, again.At = time.Now().Add(9*time.Hour), time.Now().Add(8*time.Hour)
	rec := f.record("T1")
	for i, want := range []int{0, 1, 0, 0, 0, 1} {
		e := []Event{started("T1", 1), ask, early, started("T1", 2), early, again}[i]
		f.apply(&e)
		if got := rec.OpenQuestions(); len(got) != want {
			t.Errorf("after event %d %q are open, want %d", i, got, want)
		}
	}
}

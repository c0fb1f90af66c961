package attempts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if got := rec.OpenQuestions(); !slices.Equal(got, []string{"Which port?", "Which host?"}) || rec.ContinuesWith() != "" || rec.Gate == nil {
		t.Fatalf("before the answer: open %q, continues with %q, gate %v", got, rec.ContinuesWith(), rec.Gate)
	}
	must(t, s.Append(Event{Type: TypeAnswered, Task: "T1", Answer: rec.AnswerTo("8080, on localhost")}))
	must(t, s.Append(Event{Type: TypeGated, Task: "T2", Gate: &Gate{Reason: UserBlocked}}, Event{Type: TypeAnswered, Task: "T2", Answer: &Answer{Text: "later"}}))
	check := func(when string, rec, other TaskRecord) {
		t.Helper()
		if rec.OpenQuestions() != nil || rec.ContinuesWith() != "claude" || rec.Gate != nil || len(rec.Answers) != 1 || rec.Answers[0].Question != "Which port?\nWhich host?" {
			t.Errorf("%s: %+v", when, rec)
		}
		if other.Gate == nil || len(other.Answers) != 1 || other.ContinuesWith() != "" {
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

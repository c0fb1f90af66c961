package attempts

import (
	"strings"
	"testing"

	"relay/review"
)

func TestGateAfter(t *testing.T) {
	t.Parallel()
	fail := func(o Outcome, text string) Ended {
		return Ended{Result: ResultFailure, Outcome: o, Charged: o.Charged(), Receipt: Receipt{ErrorCategory: CodeError, ErrorSummary: text}}
	}
	blocked := fail(Review, "wrong approach")
	blocked.Receipt.Verdict = review.Blocked
	tampered := blocked
	tampered.Outcome = Tamper
	told := fail(Agent, "x")
	told.Gate = &Gate{Reason: BudgetExhausted}
	done := Ended{Result: ResultSuccess, Outcome: Success}
	past := func(list ...Ended) TaskRecord {
		var rec TaskRecord
		for i, e := range list {
			rec.Attempts = append(rec.Attempts, Attempt{
				ID: i + 1, Result: e.Result, Outcome: e.Outcome, Charged: e.Charged, Receipt: e.Receipt, EndedAt: clock()(),
			})
		}
		return rec
	}
	since := func(n int, rec TaskRecord) TaskRecord {
		rec.CountFrom = n
		return rec
	}
	stopped := Ended{Result: ResultInterrupted, Outcome: Stopped}
	for _, tc := range []struct {
		name  string
		rec   TaskRecord
		ended Ended
		lim   Limits
		want  Reason
	}{
		{"success", past(fail(Agent, "a"), fail(Agent, "b")), done, Limits{1, 1}, ""},
		{"first failure", past(), fail(Agent, "a"), Limits{3, 5}, ""},
		{"second, other error", past(fail(Agent, "a")), fail(Check, "b"), Limits{3, 5}, ""},
		{"third", past(fail(Agent, "a"), fail(Check, "b")), fail(Timeout, "c"), Limits{3, 5}, MaxAttempts},
		{"limit of one", past(), fail(Agent, "a"), Limits{1, 5}, MaxAttempts},
		{"no limit means the default", past(fail(Agent, "a"), fail(Check, "b")), fail(Timeout, "c"), Limits{}, MaxAttempts},
		{"same error twice", past(fail(Agent, "exit 1 at 10:31:07 in /tmp/a1b2c3/x.go:17")), fail(Agent, "Exit 1 at 11:02:44 in /tmp/ffee00/x.go:17"), Limits{5, 5}, RepeatedFailure},
		{"another test of the same file", past(fail(Agent, "test_4: expected 33, got 44")), fail(Agent, "test_2: expected 19, got 22"), Limits{5, 5}, ""},
		{"nothing has been printed", past(fail(Agent, "exit status 1")), fail(Agent, "exit status 1"), Limits{5, 5}, ""},
		{"same error, not in a row", past(fail(Agent, "a"), fail(Agent, "b")), fail(Agent, "a"), Limits{5, 5}, ""},
		{"same error, uncharged between", past(fail(Agent, "a"), fail(Provider, "529"), stopped), fail(Agent, "a"), Limits{5, 5}, RepeatedFailure},
		{"same error, other category", past(Ended{Result: ResultFailure, Outcome: Check, Charged: true, Receipt: Receipt{ErrorCategory: TestFailure, ErrorSummary: "a"}}), fail(Agent, "a"), Limits{5, 5}, ""},
		{"no text is no same error", past(fail(Agent, "")), fail(Agent, ""), Limits{5, 5}, ""},
		{"same error at the limit", past(fail(Agent, "a")), fail(Agent, "a"), Limits{2, 5}, MaxAttempts},
		{"blocked", past(), blocked, Limits{3, 5}, QualityGateBlocked},
		{"blocked at the limit", past(fail(Agent, "a"), fail(Agent, "b")), blocked, Limits{3, 5}, QualityGateBlocked},
		{"tampered and blocked at the limit", past(fail(Agent, "a"), fail(Agent, "b")), tampered, Limits{3, 5}, TamperedWith},
		{"tampered, first", past(fail(Agent, "a")), fail(Tamper, "x"), Limits{3, 5}, ""},
		{"tampered, again", past(fail(Tamper, "x"), fail(Provider, "529")), fail(Tamper, "y"), Limits{5, 5}, TamperedWith},
		{"tampered, after an ungate", since(1, past(fail(Tamper, "x"))), fail(Tamper, "y"), Limits{5, 5}, ""},
		{"told to gate", past(), told, Limits{3, 5}, BudgetExhausted},
		{"after an ungate", since(2, past(fail(Agent, "a"), fail(Agent, "b"))), fail(Agent, "b"), Limits{3, 5}, ""},
		{"stopped, any number of times", past(stopped, stopped, stopped, stopped), stopped, Limits{1, 1}, ""},
		{"out of money, any number of times", past(fail(Budget, "a"), fail(Budget, "a"), fail(Budget, "a")), fail(Budget, "a"), Limits{1, 3}, ""},
		{"out of money does not count for the cap", past(fail(Budget, "a"), fail(Provider, "529")), fail(Provider, "529"), Limits{1, 3}, ""},
		{"provider, first", past(), fail(Provider, "529"), Limits{1, 3}, ""},
		{"provider, at the cap", past(fail(Provider, "529"), fail(Conflict, "x")), fail(Quota, "limit"), Limits{1, 3}, Infrastructure},
		{"conflict, second", past(fail(Conflict, "x")), fail(Conflict, "y"), Limits{3, 9}, ""},
		{"conflict, third", past(fail(Conflict, "x"), fail(Conflict, "y")), fail(Conflict, "z"), Limits{3, 9}, Infrastructure},
		{"conflict, third, with others between", past(fail(Conflict, "x"), fail(Provider, "529"), fail(Conflict, "y"), stopped), fail(Conflict, "z"), Limits{3, 9}, Infrastructure},
		{"conflict, third, after two of the machine", past(fail(Environment, "x"), fail(Environment, "y")), fail(Conflict, "z"), Limits{3, 9}, ""},
		{"machine, third", past(fail(Environment, "x"), fail(Environment, "y")), fail(Environment, "z"), Limits{3, 9}, Infrastructure},
		{"provider, third", past(fail(Provider, "x"), fail(Provider, "y")), fail(Provider, "z"), Limits{3, 9}, ""},
		{"stops do not count for the cap", past(fail(Provider, "529"), stopped), fail(Provider, "529"), Limits{1, 3}, ""},
		{"charged do not count for the cap", past(fail(Provider, "529"), fail(Agent, "a")), fail(Provider, "529"), Limits{3, 3}, ""},
		{"uncharged do not count for the limit", past(fail(Provider, "a"), fail(Provider, "b")), fail(Agent, "c"), Limits{3, 9}, ""},
	} {
		got := Reason("")
		if g := GateAfter(tc.rec, tc.ended, tc.lim); g != nil {
			got = g.Reason
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// Whoever reads that a task could not land reads what to write into epic.yml.
func TestGateSaysWhatToDeclare(t *testing.T) {
	t.Parallel()
	lost := Ended{Result: ResultFailure, Outcome: Conflict, Receipt: Receipt{ErrorSummary: "conflict with T11 in CHANGELOG", Contested: []string{"CHANGELOG", "a: b"}}}
	once := Attempt{Result: ResultFailure, Outcome: Conflict, EndedAt: clock()()}
	rec := TaskRecord{Attempts: []Attempt{once, once}}
	const why = "3 attempts failed through no fault of the agent; the last: conflict with T11 in CHANGELOG; tasks that declare the same files, or depend on each other, do not run at once: files: ["
	if g := GateAfter(rec, lost, Limits{}); g == nil || g.Detail != why+`CHANGELOG, "a: b"]` {
		t.Errorf("got %+v", g)
	}
	lost.Receipt.Contested = strings.Split(strings.Repeat("f,", 12)+"g", ",")
	if g := GateAfter(rec, lost, Limits{}); g == nil || g.Detail != why+"f, f, f, f, f, f, f, f, f, f, …]" {
		t.Errorf("got %+v", g)
	}
}

// Other tests failing than the last time is progress, also when the summary is the same.
func TestRepeatedFailureLooksAtTheOutput(t *testing.T) {
	t.Parallel()
	fail := func(tail string) Ended {
		return Ended{Result: ResultFailure, Outcome: Check, Charged: true, Receipt: Receipt{
			ErrorCategory: TestFailure, ErrorSummary: "go test failed: exit status 1",
			Checks: []CheckRun{{Name: "go test", ExitCode: 1, Tail: tail, Phase: "task"}, {Name: "vet", ExitCode: 1, Tail: tail + tail, Phase: "baseline"}},
		}}
	}
	first := fail("--- FAIL: TestA (0.01s)")
	rec := TaskRecord{Attempts: []Attempt{{ID: 1, Charged: true, Result: ResultFailure, Receipt: first.Receipt}}}
	if g := GateAfter(rec, fail("--- FAIL: TestA (0.37s)"), Limits{5, 5}); g == nil || g.Reason != RepeatedFailure {
		t.Errorf("got %+v", g)
	}
	if g := GateAfter(rec, fail("--- FAIL: TestB (0.01s)"), Limits{5, 5}); g != nil {
		t.Errorf("got %+v", g)
	}
}

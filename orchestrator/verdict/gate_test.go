package verdict

import (
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/review"
)

func TestGateAfter(t *testing.T) {
	t.Parallel()
	fail := func(o attempts.Outcome, text string) attempts.Ended {
		in := attempts.Receipt{ErrorCategory: attempts.CodeError, ErrorSummary: text}
		return attempts.Ended{Result: attempts.ResultFailure, Outcome: o, Charged: o.Charged(), Receipt: in}
	}
	blocked := fail(attempts.Review, "wrong approach")
	blocked.Receipt.Verdict = review.Blocked
	tampered := blocked
	tampered.Outcome = attempts.Tamper
	told := fail(attempts.Agent, "x")
	told.Gate = &attempts.Gate{Reason: attempts.BudgetExhausted}
	done := attempts.Ended{Result: attempts.ResultSuccess, Outcome: attempts.Success}
	past := func(list ...attempts.Ended) attempts.TaskRecord {
		var rec attempts.TaskRecord
		for i, e := range list {
			rec.Attempts = append(rec.Attempts, attempts.Attempt{
				ID: i + 1, Result: e.Result, Outcome: e.Outcome, Charged: e.Charged, Receipt: e.Receipt, EndedAt: time.Unix(1, 0),
			})
		}
		return rec
	}
	since := func(n int, rec attempts.TaskRecord) attempts.TaskRecord {
		rec.CountFrom = n
		return rec
	}
	stopped := attempts.Ended{Result: attempts.ResultInterrupted, Outcome: attempts.Stopped}
	for _, tc := range []struct {
		name  string
		rec   attempts.TaskRecord
		ended attempts.Ended
		lim   Limits
		want  attempts.Reason
	}{
		{"success", past(fail(attempts.Agent, "a"), fail(attempts.Agent, "b")), done, Limits{1, 1}, ""},
		{"first failure", past(), fail(attempts.Agent, "a"), Limits{3, 5}, ""},
		{"second, other error", past(fail(attempts.Agent, "a")), fail(attempts.Check, "b"), Limits{3, 5}, ""},
		{"third", past(fail(attempts.Agent, "a"), fail(attempts.Check, "b")), fail(attempts.Timeout, "c"), Limits{3, 5}, attempts.MaxAttempts},
		{"limit of one", past(), fail(attempts.Agent, "a"), Limits{1, 5}, attempts.MaxAttempts},
		{"no limit means the default", past(fail(attempts.Agent, "a"), fail(attempts.Check, "b")), fail(attempts.Timeout, "c"), Limits{}, attempts.MaxAttempts},
		{"same error twice", past(fail(attempts.Agent, "exit 1 at 10:31:07 in /tmp/a1b2c3/x.go:17")), fail(attempts.Agent, "Exit 1 at 11:02:44 in /tmp/ffee00/x.go:17"), Limits{5, 5}, attempts.RepeatedFailure},
		{"another test of the same file", past(fail(attempts.Agent, "test_4: expected 33, got 44")), fail(attempts.Agent, "test_2: expected 19, got 22"), Limits{5, 5}, ""},
		{"nothing has been printed", past(fail(attempts.Agent, "exit status 1")), fail(attempts.Agent, "exit status 1"), Limits{5, 5}, ""},
		{"same error, not in a row", past(fail(attempts.Agent, "a"), fail(attempts.Agent, "b")), fail(attempts.Agent, "a"), Limits{5, 5}, ""},
		{"same error, uncharged between", past(fail(attempts.Agent, "a"), fail(attempts.Provider, "529"), stopped), fail(attempts.Agent, "a"), Limits{5, 5}, attempts.RepeatedFailure},
		{"same error, other category", past(attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true, Receipt: attempts.Receipt{ErrorCategory: attempts.TestFailure, ErrorSummary: "a"}}), fail(attempts.Agent, "a"), Limits{5, 5}, ""},
		{"no text is no same error", past(fail(attempts.Agent, "")), fail(attempts.Agent, ""), Limits{5, 5}, ""},
		{"same error at the limit", past(fail(attempts.Agent, "a")), fail(attempts.Agent, "a"), Limits{2, 5}, attempts.MaxAttempts},
		{"blocked", past(), blocked, Limits{3, 5}, attempts.QualityGateBlocked},
		{"blocked at the limit", past(fail(attempts.Agent, "a"), fail(attempts.Agent, "b")), blocked, Limits{3, 5}, attempts.QualityGateBlocked},
		{"tampered and blocked at the limit", past(fail(attempts.Agent, "a"), fail(attempts.Agent, "b")), tampered, Limits{3, 5}, attempts.TamperedWith},
		{"tampered, first", past(fail(attempts.Agent, "a")), fail(attempts.Tamper, "x"), Limits{3, 5}, ""},
		{"tampered, again", past(fail(attempts.Tamper, "x"), fail(attempts.Provider, "529")), fail(attempts.Tamper, "y"), Limits{5, 5}, attempts.TamperedWith},
		{"tampered, after an ungate", since(1, past(fail(attempts.Tamper, "x"))), fail(attempts.Tamper, "y"), Limits{5, 5}, ""},
		{"told to gate", past(), told, Limits{3, 5}, attempts.BudgetExhausted},
		{"after an ungate", since(2, past(fail(attempts.Agent, "a"), fail(attempts.Agent, "b"))), fail(attempts.Agent, "b"), Limits{3, 5}, ""},
		{"stopped, any number of times", past(stopped, stopped, stopped, stopped), stopped, Limits{1, 1}, ""},
		{"out of money, any number of times", past(fail(attempts.Budget, "a"), fail(attempts.Budget, "a"), fail(attempts.Budget, "a")), fail(attempts.Budget, "a"), Limits{1, 3}, ""},
		{"out of money does not count for the cap", past(fail(attempts.Budget, "a"), fail(attempts.Provider, "529")), fail(attempts.Provider, "529"), Limits{1, 3}, ""},
		{"provider, first", past(), fail(attempts.Provider, "529"), Limits{1, 3}, ""},
		{"provider, at the cap", past(fail(attempts.Provider, "529"), fail(attempts.Conflict, "x")), fail(attempts.Quota, "limit"), Limits{1, 3}, attempts.Infrastructure},
		{"conflict, second", past(fail(attempts.Conflict, "x")), fail(attempts.Conflict, "y"), Limits{3, 9}, ""},
		{"conflict, third", past(fail(attempts.Conflict, "x"), fail(attempts.Conflict, "y")), fail(attempts.Conflict, "z"), Limits{3, 9}, attempts.Infrastructure},
		{"conflict, third, with others between", past(fail(attempts.Conflict, "x"), fail(attempts.Provider, "529"), fail(attempts.Conflict, "y"), stopped), fail(attempts.Conflict, "z"), Limits{3, 9}, attempts.Infrastructure},
		{"conflict, third, after two of the machine", past(fail(attempts.Environment, "x"), fail(attempts.Environment, "y")), fail(attempts.Conflict, "z"), Limits{3, 9}, ""},
		{"machine, third", past(fail(attempts.Environment, "x"), fail(attempts.Environment, "y")), fail(attempts.Environment, "z"), Limits{3, 9}, attempts.Infrastructure},
		{"unfinished", past(fail(attempts.Unfinished, "full"), fail(attempts.Unfinished, "full")), fail(attempts.Unfinished, "full"), Limits{2, 9}, ""},
		{"unfinished, at the cap", past(fail(attempts.Provider, "529"), fail(attempts.Unfinished, "full")), fail(attempts.Unfinished, "full"), Limits{2, 3}, attempts.MaxAttempts},
		{"timed out twice", past(fail(attempts.Timeout, "")), fail(attempts.Timeout, ""), Limits{3, 9}, ""},
		{"provider, third", past(fail(attempts.Provider, "x"), fail(attempts.Provider, "y")), fail(attempts.Provider, "z"), Limits{3, 9}, ""},
		{"stops do not count for the cap", past(fail(attempts.Provider, "529"), stopped), fail(attempts.Provider, "529"), Limits{1, 3}, ""},
		{"charged do not count for the cap", past(fail(attempts.Provider, "529"), fail(attempts.Agent, "a")), fail(attempts.Provider, "529"), Limits{3, 3}, ""},
		{"uncharged do not count for the limit", past(fail(attempts.Provider, "a"), fail(attempts.Provider, "b")), fail(attempts.Agent, "c"), Limits{3, 9}, ""},
	} {
		got := attempts.Reason("")
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
	lost := attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Conflict, Receipt: attempts.Receipt{ErrorSummary: "conflict with T11 in CHANGELOG", Contested: []string{"CHANGELOG", "a: b"}}}
	once := attempts.Attempt{Result: attempts.ResultFailure, Outcome: attempts.Conflict, EndedAt: time.Unix(1, 0)}
	rec := attempts.TaskRecord{Attempts: []attempts.Attempt{once, once}}
	const why = "3 attempts failed through no fault of the agent; the last: conflict with T11 in CHANGELOG; after two conflicts in a file, tasks that declare it run one at a time: files: ["
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
	fail := func(tail string) attempts.Ended {
		return attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true, Receipt: attempts.Receipt{
			ErrorCategory: attempts.TestFailure, ErrorSummary: "go test failed: exit status 1",
			Checks: []attempts.CheckRun{{Name: "go test", ExitCode: 1, Tail: tail, Phase: "task"}, {Name: "vet", ExitCode: 1, Tail: tail + tail, Phase: "baseline"}},
		}}
	}
	first := fail("--- FAIL: TestA (0.01s)")
	rec := attempts.TaskRecord{Attempts: []attempts.Attempt{{ID: 1, Charged: true, Result: attempts.ResultFailure, Receipt: first.Receipt}}}
	if g := GateAfter(rec, fail("--- FAIL: TestA (0.37s)"), Limits{5, 5}); g == nil || g.Reason != attempts.RepeatedFailure {
		t.Errorf("got %+v", g)
	}
	if g := GateAfter(rec, fail("--- FAIL: TestB (0.01s)"), Limits{5, 5}); g != nil {
		t.Errorf("got %+v", g)
	}
}

// A check that prints nothing fails in the same way when it judges the same change, and two errors may come in turn.
func TestRepeatedFailureOfSilentChecksAndInTurn(t *testing.T) {
	t.Parallel()
	fail := func(tail, change string) attempts.Receipt {
		return attempts.Receipt{ErrorCategory: attempts.TestFailure, Change: change, Checks: []attempts.CheckRun{{Name: "grep -q b", ExitCode: 1, Tail: tail, Phase: "task"}}}
	}
	a, b, c := fail("no a", ""), fail("no b", ""), fail("no c", "")
	for name, c := range map[string]struct {
		past []attempts.Receipt
		now  attempts.Receipt
		want string
	}{
		"the same change":    {[]attempts.Receipt{fail("", "1")}, fail("", "1"), "the same error twice in a row"},
		"another change":     {[]attempts.Receipt{fail("", "1")}, fail("", "2"), ""},
		"no change is known": {[]attempts.Receipt{fail("", "")}, fail("", ""), ""},
		"in turn":            {[]attempts.Receipt{a, b, a}, b, "the same two errors in turn"},
		"once in turn":       {[]attempts.Receipt{a, b}, a, ""},
		"three of them":      {[]attempts.Receipt{a, b, c}, b, ""},
		"another last":       {[]attempts.Receipt{a, b, a}, c, ""},
	} {
		var rec attempts.TaskRecord
		for i, r := range c.past {
			rec.Attempts = append(rec.Attempts, attempts.Attempt{ID: i + 1, Charged: true, Result: attempts.ResultFailure, Receipt: r})
		}
		now := attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true, Receipt: c.now}
		gate := GateAfter(rec, now, Limits{9, 9})
		if (gate != nil) != (c.want != "") || gate != nil && (gate.Reason != attempts.RepeatedFailure || !strings.HasPrefix(gate.Detail, c.want)) {
			t.Errorf("%s: got %+v, want %q", name, gate, c.want)
		}
	}
}

// What is kept of an output is its end: that may be the same while fewer tests fail.
func TestFewerFailingTestsAreProgress(t *testing.T) {
	t.Parallel()
	fail := func(failed int) attempts.Ended {
		in := attempts.Receipt{ErrorCategory: attempts.TestFailure, Checks: []attempts.CheckRun{
			{Name: "go test", ExitCode: 1, Tail: "a long story\nFAIL", Phase: "task", FailedTests: failed},
		}}
		return attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true, Receipt: in}
	}
	after := func(failed int) attempts.TaskRecord {
		once := attempts.Attempt{ID: 1, Charged: true, Result: attempts.ResultFailure, Receipt: fail(failed).Receipt}
		return attempts.TaskRecord{Attempts: []attempts.Attempt{once}}
	}
	for _, c := range []struct {
		before, now int
		want        bool
	}{{12, 1, false}, {1, 1, true}, {1, 12, true}, {0, 0, true}} {
		if g := GateAfter(after(c.before), fail(c.now), Limits{5, 5}); (g != nil) != c.want {
			t.Errorf("%d failing tests, then %d: got %+v", c.before, c.now, g)
		}
	}
}

func TestGateWithoutReason(t *testing.T) {
	t.Parallel()
	failed := attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Provider}
	gate := GateAfter(attempts.TaskRecord{}, failed, Limits{MaxUncharged: 1})
	if want := "1 attempt failed through no fault of the agent; the last: no reason given"; gate == nil || gate.Detail != want {
		t.Errorf("got %+v, want %s", gate, want)
	}
}

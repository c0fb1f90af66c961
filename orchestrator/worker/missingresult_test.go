package worker

import (
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/collect"
	"relay/orchestrator/verdict"
	"relay/runners"
)

// What an agent comes to that gave no result and was asked for it, by how it ended that time.
func TestAskedForItsResult(t *testing.T) {
	t.Parallel()
	const once = "it ended without a result"
	reset := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)
	done := &runners.Result{Status: runners.StatusSuccess, Summary: "sum"}
	failed := &runners.Result{Status: runners.StatusFailure, Summary: "sum", ErrorSummary: "err"}
	for name, c := range map[string]struct {
		report   runners.Report
		outcome  attempts.Outcome
		words    string
		answered bool
	}{
		"success":                 {runners.Report{Outcome: runners.Claimed, Result: done}, attempts.Success, "", true},
		"failure":                 {runners.Report{Outcome: runners.Failed, Result: failed}, attempts.Agent, "err", true},
		"nothing":                 {runners.Report{Outcome: runners.NoResult}, attempts.Agent, once + ", and gave none when it was asked again", false},
		"an answer, then a crash": {runners.Report{Outcome: runners.Killed, Result: done}, attempts.Agent, once + ", and gave none when it was asked again", false},
		"no time":                 {runners.Report{Outcome: runners.WallLimit}, attempts.Agent, once + ", and gave none when it was asked again", false},
		"the session is gone":     {runners.Report{Outcome: runners.NoSession}, attempts.Agent, once + ", and gave none when it was asked again", false},
		"a usage limit":           {runners.Report{Outcome: runners.Quota, Detail: "limit", ResetAt: reset}, attempts.Quota, "limit", false},
		"Ctrl-C":                  {runners.Report{Outcome: runners.Stopped, Detail: "stopped"}, attempts.Stopped, "stopped", false},
	} {
		a := attempt{f: collect.AccountOf(runners.Report{Outcome: runners.NoResult, Detail: once, FinalText: "words", Session: "s", Usage: runners.Usage{InputTokens: 3}})}
		if !a.f.End.Undecided() || a.f.Receipt.Summary != "words" {
			t.Fatalf("%s: an agent without a result is %+v", name, a.f)
		}
		c.report.Usage = runners.Usage{InputTokens: 4}
		a.f.Answer(c.report)
		a.turned()
		a.ruled()
		f := &a.f
		if f.Outcome != c.outcome || f.Receipt.ErrorSummary != c.words || !f.ResetAt.Equal(c.report.ResetAt) {
			t.Errorf("%s: got %s, %q; want %s, %q", name, f.Outcome, f.Receipt.ErrorSummary, c.outcome, c.words)
		}
		if asked := f.Receipt.ResultFrom == attempts.ResultAsked; asked != c.answered || f.End.Undecided() || f.Usage.InputTokens != 7 {
			t.Errorf("%s: the result is from %q, open is %v, %d tokens", name, f.Receipt.ResultFrom, f.End.Undecided(), f.Usage.InputTokens)
		}
	}
}

// An agent whose mode denied it a tool is not charged for a check that fails.
func TestDeniedWithoutResult(t *testing.T) {
	t.Parallel()
	a := attempt{f: collect.AccountOf(runners.Report{Outcome: runners.PermissionDenied, Detail: "not allowed to use Bash"})}
	a.f.Presume(attempts.ResultChecks)
	a.ruled(verdict.Run{Name: "test", Is: verdict.Passed})
	if a.f.Outcome != attempts.Success || a.f.Receipt.ResultFrom != attempts.ResultChecks {
		t.Errorf("got %s, by %q", a.f.Outcome, a.f.Receipt.ResultFrom)
	}
	a.ruled(verdict.Run{Name: "test", Is: verdict.Red, How: "test: exit status 1"})
	if a.f.Outcome != attempts.Environment || a.f.Receipt.ErrorSummary != "not allowed to use Bash" || a.f.Receipt.ResultFrom != "" {
		t.Errorf("got %s %q, by %q", a.f.Outcome, a.f.Receipt.ErrorSummary, a.f.Receipt.ResultFrom)
	}
}

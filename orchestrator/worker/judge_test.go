package worker

import (
	"reflect"
	"testing"

	"relay/attempts"
	"relay/orchestrator/collect"
	"relay/orchestrator/verdict"
	"relay/runners"
	"relay/runners/process"
)

// judged is the state of an attempt that left some work, after a turn that a runner reports so.
func judged(r runners.Report) collect.Account {
	t := attempt{f: collect.AccountOf(r)}
	t.ruled()
	return t.f
}

// ruled records the ruling on an attempt whose work is well in all but the way its last turn ended.
func (t *attempt) ruled(runs ...verdict.Run) {
	end := t.f.End
	t.ev = verdict.Evidence{
		Ready: &verdict.Ready{}, Base: &verdict.Before{}, Leave: &verdict.Leave{}, End: &end, Guard: &verdict.Guard{}, Work: &verdict.Work{},
		Mark: &verdict.Mark{}, Checks: &verdict.Runs{Runs: runs}, Hook: &verdict.Hook{}, Old: &verdict.Old{}, Panel: &verdict.Panel{},
	}
	ruling, _ := verdict.Decide(&t.ev)
	t.f.Record(&t.ev, ruling)
}

func TestJudge(t *testing.T) {
	t.Parallel()
	failure := &runners.Result{Status: runners.StatusFailure, Summary: "sum", ErrorSummary: "err"}
	for name, c := range map[string]struct {
		report   runners.Report
		outcome  attempts.Outcome
		category attempts.Category
		words    string
		charged  bool
	}{
		"claimed":       {runners.Report{Outcome: runners.Claimed}, attempts.Success, "", "", false},
		"failed":        {runners.Report{Outcome: runners.Failed, Detail: "d"}, attempts.Agent, attempts.CodeError, "d", true},
		"no result":     {runners.Report{Outcome: runners.NoResult}, attempts.Agent, attempts.NoResult, "the agent ended without a result", true},
		"bad result":    {runners.Report{Outcome: runners.BadResult, Detail: "d"}, attempts.Agent, attempts.NoResult, "d", true},
		"wall":          {runners.Report{Outcome: runners.WallLimit, Detail: "d"}, attempts.Timeout, attempts.TimedOut, "d", true},
		"silence":       {runners.Report{Outcome: runners.SilenceLimit, Detail: "d"}, attempts.Timeout, attempts.TimedOut, "d", true},
		"quota":         {runners.Report{Outcome: runners.Quota, Detail: "d"}, attempts.Quota, attempts.RateLimited, "d", false},
		"rate":          {runners.Report{Outcome: runners.RateLimited, Detail: "d"}, attempts.Provider, attempts.RateLimited, "d", false},
		"provider":      {runners.Report{Outcome: runners.Provider, Detail: "d"}, attempts.Provider, attempts.ProviderError, "d", false},
		"auth":          {runners.Report{Outcome: runners.Auth, Detail: "d"}, attempts.Auth, attempts.AuthError, "d", false},
		"cannot start":  {runners.Report{Outcome: runners.CannotStart, Detail: "d"}, attempts.Start, attempts.CLIError, "d", false},
		"stopped":       {runners.Report{Outcome: runners.Stopped, Detail: "d"}, attempts.Stopped, attempts.Interrupted, "d", false},
		"lost":          {runners.Report{Outcome: runners.Lost, Detail: "d"}, attempts.Environment, attempts.Interrupted, "d", false},
		"unheard of":    {runners.Report{Outcome: "new"}, attempts.Environment, attempts.CLIError, "unknown outcome new", false},
		"said so":       {runners.Report{Outcome: runners.Failed, Detail: "d", Result: failure}, attempts.Agent, attempts.CodeError, "err", true},
		"limit, failed": {runners.Report{Outcome: runners.Quota, Detail: "d", Result: failure}, attempts.Quota, attempts.RateLimited, "d", false},
		"own category": {
			runners.Report{Outcome: runners.Failed, Result: &runners.Result{Status: runners.StatusFailure, Summary: "s", ErrorCategory: " test_failure "}},
			attempts.Agent, attempts.TestFailure, "s", true,
		},
		"free text for a category": {
			runners.Report{Outcome: runners.Failed, Result: &runners.Result{Status: runners.StatusFailure, Summary: "s", ErrorCategory: ".tasks | delete"}},
			attempts.Agent, attempts.CodeError, ".tasks | delete: s", true,
		},
		"relay's category": {
			runners.Report{Outcome: runners.Failed, Result: &runners.Result{Status: runners.StatusFailure, Summary: "s", ErrorCategory: "rate_limited"}},
			attempts.Agent, attempts.CodeError, "rate_limited: s", true,
		},
	} {
		c.report.Exit = process.Exit{Strays: 2}
		f := judged(c.report)
		if f.Outcome != c.outcome || f.Receipt.ErrorCategory != c.category ||
			f.Receipt.ErrorSummary != c.words || f.Outcome.Charged() != c.charged {
			t.Errorf("%s: got %s %s %q; want %s %s %q", name, f.Outcome, f.Receipt.ErrorCategory, f.Receipt.ErrorSummary, c.outcome, c.category, c.words)
		}
		if len(f.Notes) != 1 || f.Gate != "" {
			t.Errorf("%s: got notes %v, gate %q", name, f.Notes, f.Gate)
		}
	}
}

// What an agent decided, and what it found and left, is in its receipt, and not in its summary.
func TestJudgeRecordsStatement(t *testing.T) {
	t.Parallel()
	f := judged(runners.Report{Outcome: runners.Claimed, Result: &runners.Result{
		Status: runners.StatusSuccess, Summary: "sum",
		Statement: attempts.Statement{
			Decisions: map[string]string{"b": "2", "a": "1"}, Discovered: []attempts.Discovery{{Title: "mend x", Why: "it leaks"}, {Title: "y"}},
		},
	}})
	want := attempts.Statement{
		Decisions: map[string]string{"a": "1", "b": "2"}, Discovered: []attempts.Discovery{{Title: "mend x", Why: "it leaks"}, {Title: "y"}},
	}
	if !reflect.DeepEqual(f.Receipt.Statement, want) || f.Receipt.Summary != "sum" || len(f.Notes) > 0 {
		t.Errorf("got %+v, %q, %v", f.Receipt.Statement, f.Receipt.Summary, f.Notes)
	}
}

// The next attempt goes on from what was broken off, and from nothing else that failed.
func TestGoesOnFromWhatBrokeOff(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[runners.Outcome]bool{
		runners.ContextExhausted: true, runners.TurnsSpent: true, runners.Refused: true, runners.Killed: true,
		runners.WallLimit: true, runners.SilenceLimit: true, runners.Failed: false,
	} {
		f := judged(runners.Report{Outcome: outcome, Detail: "d"})
		f.Receipt.Salvage = "refs/relay/x/T1/1"
		record := attempts.TaskRecord{Attempts: []attempts.Attempt{{ID: 1, Outcome: f.Outcome, Charged: f.Outcome.Charged(), Head: "abc", Receipt: f.Receipt}}}
		if _, ok := verdict.Previous(record); ok != want {
			t.Errorf("%s: got %v, want %v", outcome, ok, want)
		}
	}
}

// A runner that says nothing of how it ended has that said for it.
func TestJudgeInWords(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[runners.Outcome]string{
		runners.Claimed:          "",
		runners.Failed:           "the agent reported a failure",
		runners.NoResult:         "the agent ended without a result",
		runners.BadResult:        "the agent's result cannot be read",
		runners.WallLimit:        "the agent ran out of time",
		runners.SilenceLimit:     "the agent fell silent",
		runners.Refused:          "the model refuses this task",
		runners.ContextExhausted: "the task does not fit the model's context",
		runners.TurnsSpent:       "the agent used up its turns",
		runners.NoModel:          "the model is not available",
		runners.Killed:           "the agent was killed",
		runners.PermissionDenied: "the agent's mode denies it a tool it needs",
		runners.Quota:            "the provider's usage limit is reached",
		runners.RateLimited:      "the provider limits the rate of requests",
		runners.Provider:         "the provider failed",
		runners.NoSession:        "the agent's session is gone",
		runners.Auth:             "the agent is not logged in, or may not be used",
		runners.CannotStart:      "the agent's program cannot be started",
		runners.Stopped:          "the run was stopped",
		runners.Lost:             "the process that watched the agent died",
	} {
		if got := judged(runners.Report{Outcome: outcome}).Receipt.ErrorSummary; got != want {
			t.Errorf("%s: got %q, want %q", outcome, got, want)
		}
	}
	f := judged(runners.Report{Outcome: runners.Claimed, Exit: process.Exit{Strays: 2}})
	if got, want := f.Notes[0].Text, "ended 2 processes the agent had left behind"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

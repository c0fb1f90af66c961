package verdict

import (
	"testing"

	"relay/attempts"
	"relay/runners"
)

// A reviewer's failure is never the task's: what is not its runner's fault is one of the environment.
func TestReviewerFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want ReviewerFault }{
		"limit":         {ReviewerEnd(runners.Quota), ReviewerFault{attempts.Quota, attempts.RateLimited, "the provider's usage limit is reached", true, false}},
		"refuses":       {ReviewerEnd(runners.Refused), ReviewerFault{attempts.Environment, attempts.ModelRefused, "the model refuses this task", true, true}},
		"out of time":   {ReviewerEnd(runners.WallLimit), ReviewerFault{attempts.Environment, attempts.TimedOut, "the agent ran out of time", true, true}},
		"cannot start":  {ReviewerEnd(runners.CannotStart), ReviewerFault{attempts.Start, attempts.CLIError, "the agent's program cannot be started", true, false}},
		"the run stops": {ReviewerEnd(runners.Stopped), ReviewerFault{attempts.Stopped, attempts.Interrupted, "the run was stopped", false, false}},
		"back-off":      {ReviewerClosed(attempts.Provider, false), ReviewerFault{Outcome: attempts.Provider, Category: attempts.RateLimited}},
		"closed until":  {ReviewerClosed(attempts.Quota, true), ReviewerFault{Outcome: attempts.Quota, Category: attempts.RateLimited}},
		"not logged in": {ReviewerClosed(attempts.Auth, false), ReviewerFault{Outcome: attempts.Auth, Category: attempts.RateLimited}},
		"no verdict":    {NoVerdict(), ReviewerFault{Outcome: attempts.Environment, Category: attempts.QualityGate}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, c.got, c.want)
		}
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults []attempts.Outcome
		want   int
	}{
		"one":                     {[]attempts.Outcome{attempts.Quota}, 0},
		"the first of equals":     {[]attempts.Outcome{attempts.Quota, attempts.Provider}, 0},
		"a login before a limit":  {[]attempts.Outcome{attempts.Provider, attempts.Auth, attempts.Environment}, 1},
		"the end of the run wins": {[]attempts.Outcome{attempts.Start, attempts.Quota, attempts.Stopped}, 2},
	} {
		var faults []ReviewerFault
		for _, o := range c.faults {
			faults = append(faults, ReviewerFault{Outcome: o})
		}
		if got := Worst(faults); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

func TestOverrulings(t *testing.T) {
	t.Parallel()
	budget := Overruling{Cause: "out of budget", Outcome: attempts.Budget, Category: attempts.BudgetSpent, Why: "spent"}
	charged, gated := budget, budget
	charged.Charged, gated.Gate = true, attempts.BudgetExhausted
	for name, c := range map[string]struct{ got, want Overruling }{
		"the run's cap":     {OutOfBudget(RunCap, "spent"), budget},
		"the attempt's cap": {OutOfBudget(AttemptCap, "spent"), charged},
		"the task's cap":    {OutOfBudget(TaskCap, "spent"), gated},
		"a person":          {StoppedByPerson("you"), Overruling{Cause: "stopped by a person", Outcome: attempts.Stopped, Category: attempts.Interrupted, Why: "you"}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, c.got, c.want)
		}
	}
	for name, c := range map[string]struct {
		free, floor int64
		want        string // why; "": the disk was not full
	}{
		"unknown":         {-1, 1 << 20, ""},
		"room":            {2 << 20, 1 << 20, ""},
		"below the floor": {2 << 20, 3 << 20, "the disk ran full (2 MiB are free): red"},
		"none, no floor":  {100, 0, "the disk ran full (0 MiB are free): red"},
		"just enough":     {64 << 10, 0, ""},
	} {
		got, full := FullDisk(c.free, c.floor, "red")
		if full != (c.want != "") || got.Why != c.want || full && (got.Outcome != attempts.Environment || got.Cause != "disk full") {
			t.Errorf("%s: got %+v, %v; want %q", name, got, full, c.want)
		}
	}
}

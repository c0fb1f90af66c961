package verdict

import (
	"testing"

	"relay/attempts"
	"relay/runners"
)

// What relay records, what it concludes about the runner, and what the run's limits count, for each outcome as it stands alone.
func TestEveryOutcome(t *testing.T) {
	t.Parallel()
	type row struct {
		result             attempts.Result
		charged            bool
		runner             RunnerSign
		refused, login     bool
		limited, transient bool
		blamed, uncharged  bool
	}
	const failure = attempts.ResultFailure
	for o, want := range map[attempts.Outcome]row{
		attempts.Success:     {result: attempts.ResultSuccess, runner: RunnerAnswered},
		attempts.Agent:       {result: failure, charged: true, runner: RunnerAnswered, blamed: true},
		attempts.Check:       {result: failure, charged: true, runner: RunnerAnswered, blamed: true},
		attempts.Review:      {result: failure, charged: true, runner: RunnerAnswered, blamed: true},
		attempts.Timeout:     {result: failure, charged: true, runner: RunnerAnswered, blamed: true},
		attempts.Tamper:      {result: failure, charged: true, runner: RunnerAnswered, blamed: true},
		attempts.Conflict:    {result: failure, runner: RunnerAnswered, uncharged: true},
		attempts.Quota:       {result: failure, runner: RunnerFailed, limited: true, transient: true, uncharged: true},
		attempts.Provider:    {result: failure, runner: RunnerFailed, transient: true, uncharged: true},
		attempts.Auth:        {result: failure, runner: RunnerFailed, refused: true, login: true, transient: true, uncharged: true},
		attempts.Start:       {result: failure, runner: RunnerFailed, refused: true, transient: true, uncharged: true},
		attempts.Model:       {result: failure, runner: RunnerFailed, refused: true, transient: true, uncharged: true},
		attempts.Unfinished:  {result: failure, runner: RunnerAnswered},
		attempts.Budget:      {result: failure, runner: RunnerAnswered},
		attempts.Asked:       {result: attempts.ResultInterrupted, runner: RunnerAnswered},
		attempts.Stopped:     {result: attempts.ResultInterrupted, transient: true},
		attempts.Environment: {result: failure, blamed: true, uncharged: true},
		"unheard of":         {result: failure, runner: RunnerAnswered, uncharged: true},
	} {
		r := Reported{Outcome: o}
		end, class := End(r), ClassOf(o)
		after := Follow(r, attempts.Ended{Result: end.Result, Outcome: o, Charged: end.Charged})
		got := row{
			end.Result, end.Charged, SignOf(r, Asked{Runner: true}), class.Refused, class.Login, class.Limited, class.Transient,
			after.Blamed, after.Uncharged,
		}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", o, got, want)
		}
	}
	if len(classes) != 17 {
		t.Errorf("the table has %d rows, this test 17", len(classes))
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		r    Reported
		want Ended
	}{
		"charged all the same": {Reported{Outcome: attempts.Budget, Charged: true}, Ended{attempts.ResultFailure, true}},
	} {
		if got := End(c.r); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	gate := &attempts.Gate{Reason: attempts.MaxAttempts}
	unreviewed := attempts.Receipt{Review: &attempts.Reviewed{Missing: []attempts.Missing{{Reviewer: "codex"}}}}
	failed := func(o attempts.Outcome) attempts.Ended {
		return attempts.Ended{Result: attempts.ResultFailure, Outcome: o, Charged: o.Charged()}
	}
	excused, gated, waits, broken := failed(attempts.Check), failed(attempts.Check), failed(attempts.Environment), failed(attempts.Conflict)
	excused.Charged, gated.Gate, waits.Receipt, broken.Gate = false, gate, unreviewed, gate
	for name, c := range map[string]struct {
		r    Reported
		e    attempts.Ended
		want After
	}{
		"done": {
			Reported{Outcome: attempts.Success},
			attempts.Ended{Result: attempts.ResultSuccess, Outcome: attempts.Success},
			After{Task: TaskCompleted},
		},
		"failed":                          {Reported{Outcome: attempts.Check}, failed(attempts.Check), After{Blamed: true}},
		"gated":                           {Reported{Outcome: attempts.Check}, gated, After{Task: TaskGated, Blamed: true}},
		"excused by the circuit breaker":  {Reported{Outcome: attempts.Check}, excused, After{Blamed: true}},
		"put off":                         {Reported{Outcome: attempts.Environment, Held: true}, failed(attempts.Environment), After{Task: TaskPutOff}},
		"put off for the last time":       {Reported{Outcome: attempts.Check, Held: true}, gated, After{Task: TaskGated}},
		"stopped":                         {Reported{Outcome: attempts.Stopped}, attempts.Ended{Result: attempts.ResultInterrupted, Outcome: attempts.Stopped}, After{Stopped: true}},
		"conflict":                        {Reported{Outcome: attempts.Conflict}, failed(attempts.Conflict), After{Contested: true, Uncharged: true}},
		"conflict, gated":                 {Reported{Outcome: attempts.Conflict}, broken, After{Task: TaskGated, Contested: true, Uncharged: true}},
		"lacks only the reviewer's words": {Reported{Outcome: attempts.Environment, Receipt: unreviewed}, waits, After{Uncharged: true}},
	} {
		if got := Follow(c.r, c.e); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestSignOf(t *testing.T) {
	t.Parallel()
	unreviewed := attempts.Receipt{Review: &attempts.Reviewed{Missing: []attempts.Missing{{Reviewer: "codex"}}}}
	for name, c := range map[string]struct {
		r    Reported
		a    Asked
		want RunnerSign
	}{
		"no runner":                        {Reported{Outcome: attempts.Success}, Asked{}, RunnerSilent},
		"ended under a killed run":         {Reported{Outcome: attempts.Check}, Asked{Runner: true, Recovered: true}, RunnerSilent},
		"a fault under a killed run":       {Reported{Outcome: attempts.Quota}, Asked{Runner: true, Recovered: true}, RunnerFailed},
		"its reviewer failed":              {Reported{Outcome: attempts.Quota, Receipt: unreviewed}, Asked{Runner: true}, RunnerAnswered},
		"its reviewer failed, it had none": {Reported{Outcome: attempts.Quota, Receipt: unreviewed}, Asked{}, RunnerSilent},
		"its reviewer failed again":        {Reported{Outcome: attempts.Quota, Receipt: unreviewed}, Asked{Runner: true, OnlyReview: true}, RunnerSilent},
	} {
		if got := SignOf(c.r, c.a); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// The order of what gates a task: what the engine says, what keeps a task from being tried, its attempts, its budget, its runners.
func TestGateOf(t *testing.T) {
	t.Parallel()
	failed := attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true, Receipt: attempts.Receipt{ErrorSummary: "red"}}
	done := attempts.Ended{Result: attempts.ResultSuccess, Outcome: attempts.Success}
	spent := Standing{Limits: Limits{1, 9}, OverBudget: "spent", NoRunner: "none"}
	more := func(s Standing) Standing { s.Limits.MaxAttempts = 9; return s }
	for name, c := range map[string]struct {
		r    Reported
		e    attempts.Ended
		s    Standing
		want string
	}{
		"the engine":             {Reported{Outcome: attempts.Check, Gate: attempts.TamperedWith, Held: true}, failed, spent, "tampered: red"},
		"cannot be tried":        {Reported{Outcome: attempts.Check, Held: true}, failed, Standing{PutOff: true, OverBudget: "spent"}, "infrastructure: red"},
		"cannot be tried yet":    {Reported{Outcome: attempts.Check, Held: true}, failed, Standing{Limits: Limits{1, 1}, OverBudget: "spent"}, ""},
		"attempts":               {Reported{Outcome: attempts.Check}, failed, spent, "max_attempts_exceeded: 1 of 1 attempts failed; the last: red"},
		"budget":                 {Reported{Outcome: attempts.Check}, failed, more(spent), "budget_exhausted: spent"},
		"runners":                {Reported{Outcome: attempts.Check}, failed, Standing{NoRunner: "none"}, "infrastructure: none"},
		"nothing":                {Reported{Outcome: attempts.Check}, failed, Standing{}, ""},
		"done, and the last one": {Reported{Outcome: attempts.Success}, done, Standing{Limits: Limits{1, 1}, OverBudget: "spent"}, ""},
	} {
		got := ""
		if g := GateOf(c.r, c.e, c.s); g != nil {
			got = string(g.Reason) + ": " + g.Detail
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Every outcome of a runner has a row, and one that relay does not know is a fault of the machine.
func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	for o, want := range map[runners.Outcome]attempts.Outcome{
		runners.Claimed: attempts.Success, runners.Failed: attempts.Agent, runners.NoResult: attempts.Agent, runners.BadResult: attempts.Agent,
		runners.WallLimit: attempts.Timeout, runners.SilenceLimit: attempts.Timeout, runners.Quota: attempts.Quota,
		runners.Refused: attempts.Agent, runners.TurnsSpent: attempts.Agent, runners.NoModel: attempts.Model,
		runners.ContextExhausted: attempts.Agent, runners.Killed: attempts.Agent, runners.RateLimited: attempts.Provider,
		runners.Overloaded: attempts.Provider, runners.Network: attempts.Provider, runners.Truncated: attempts.Provider,
		runners.Provider: attempts.Provider, runners.NoSession: attempts.Provider, runners.Auth: attempts.Auth,
		runners.PermissionDenied: attempts.Environment, runners.CannotStart: attempts.Start, runners.Stopped: attempts.Stopped,
		runners.Lost: attempts.Environment, "unheard of": attempts.Environment,
	} {
		got := OutcomeOf(o)
		if got.Outcome != want || got.Words == "" && o != runners.Claimed {
			t.Errorf("%s: got %+v, want %s", o, got, want)
		}
	}
}

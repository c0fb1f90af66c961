package verdict

import (
	"testing"

	"relay/attempts"
	"relay/runners"
)

// proved returns the evidence of a proved attempt: all parts are gathered and show nothing.
func proved() *Evidence {
	return &Evidence{
		Task: Task{HasChecks: true}, Ready: &Ready{}, Base: &Before{}, Leave: &Leave{}, End: &TurnEnd{Is: runners.Claimed}, Guard: &Guard{},
		Work: &Work{}, Mark: &Mark{}, Checks: &Runs{}, Hook: &Hook{}, Old: &Old{}, Panel: &Panel{},
	}
}

// rowCase changes the evidence of a proved attempt and names the ruling on it.
type rowCase struct {
	change func(e *Evidence)
	want   Ruling
}

// ran makes a case's change of what one check said.
func ran(r Run) func(e *Evidence) {
	return func(e *Evidence) { e.Checks.Runs = []Run{{Name: "vet", Is: Passed}, r} }
}

// worked makes a case's change of the work.
func worked(w Work) func(e *Evidence) { return func(e *Evidence) { e.Work = &w } }

// agentRuling is the ruling of most rows about work that cannot land.
func agentRuling(cause Cause, words string) Ruling {
	return Ruling{cause, attempts.Agent, attempts.CodeError, "", false, Retry, words, ""}
}

var machineCases = []rowCase{
	{
		func(e *Evidence) { e.Damage = "bad object HEAD" },
		Ruling{"damaged", attempts.Environment, attempts.CLIError, "", false, Resume, "the checkout or the commits of this attempt were damaged: bad object HEAD", ""},
	},
	{
		func(e *Evidence) { e.Checks.Stopped = "before make test" },
		Ruling{"stopped", attempts.Stopped, attempts.Interrupted, "", false, Resume, "the run was stopped before make test", ""},
	},
	{
		func(e *Evidence) { e.Ready.Branch, e.Ready.InUse = "relay/x/T1", "/home/me/x" },
		Ruling{"branch in use", attempts.Environment, attempts.CLIError, attempts.Infrastructure, false, Gate, "the branch relay/x/T1 is checked out in /home/me/x; git switch to another one there", ""},
	},
	{
		func(e *Evidence) { e.End.Is = runners.Stopped },
		Ruling{"stopped agent", attempts.Stopped, attempts.Interrupted, "", false, Resume, "the run was stopped", ""},
	},
	{
		func(e *Evidence) { e.End.Is, e.End.Said = runners.Stopped, "a person stopped it" },
		Ruling{"stopped agent", attempts.Stopped, attempts.Interrupted, "", false, Resume, "a person stopped it", ""},
	},
	{
		func(e *Evidence) { e.Guard.Why = "the agent moved the branch main; relay put it back" },
		Ruling{"tampering", attempts.Tamper, attempts.Tampered, attempts.TamperedWith, false, Gate, "the agent moved the branch main; relay put it back", ""},
	},
	{
		func(e *Evidence) { e.Hook.Unseen = "make test" },
		Ruling{"command lost", attempts.Environment, attempts.CLIError, "", false, Resume, "the process that watched make test died; how it ended is unknown", ""},
	},
	{
		func(e *Evidence) { e.Old.Spoiled = true },
		Ruling{"checkout spoiled", attempts.Environment, attempts.CLIError, "", false, Resume, "what git knows of the checkout was changed while the checks ran; they prove nothing", ""},
	},
	{
		func(e *Evidence) { e.Ready.SetUp = "npm ci: exit status 1" },
		Ruling{"set-up failed", attempts.Environment, attempts.MissingDependency, "", false, Resume, "npm ci: exit status 1", ""},
	},
	{
		func(e *Evidence) {
			e.Ready.SetUp, e.Ready.Refused = "npm ci: exit status 1", "npm ci: the sandbox refuses ~/.tool"
		},
		Ruling{"refused by the sandbox", attempts.Environment, attempts.MissingDependency, "", true, Hold, "npm ci: the sandbox refuses ~/.tool", ""},
	},
	{
		func(e *Evidence) {
			e.Base.CannotRun, e.Base.Refused = "unit: the sandbox refuses ~/.tool", "unit: the sandbox refuses ~/.tool"
		},
		Ruling{"refused by the sandbox", attempts.Environment, attempts.MissingDependency, "", true, Hold, "unit: the sandbox refuses ~/.tool", ""},
	},
	{
		func(e *Evidence) { e.Checks.Offline = "make test: exit status 2 on 0a1b2c too" },
		Ruling{"nothing is known", attempts.Environment, attempts.TestFailure, "", false, Resume, "make test: exit status 2 on 0a1b2c too", ""},
	},
	{
		func(e *Evidence) { e.Base.CannotRun = "make: not found" },
		Ruling{"cannot run", attempts.Environment, attempts.MissingDependency, "", true, Hold, "make: not found", ""},
	},
	{
		func(e *Evidence) { e.Base.Late = "make test took more than 10m" },
		Ruling{"base too slow", attempts.Environment, attempts.TestFailure, "", false, Resume, "make test took more than 10m before the work, so it cannot prove it (expect: red_then_green)", ""},
	},
	{
		func(e *Evidence) { e.Base.Green = "make test" },
		Ruling{"green before", attempts.Environment, attempts.TestFailure, attempts.Infrastructure, false, Gate, "make test passes before the work, so it cannot prove it (expect: red_then_green)", ""},
	},
	{
		func(e *Evidence) { e.Base.Hook = "the pre-commit hook failed: exit status 1" },
		Ruling{"hook broken", attempts.Environment, attempts.MissingDependency, "", true, Hold, "the pre-commit hook failed: exit status 1, and in the same way where nothing has changed: git commit --allow-empty would show it", ""},
	},
	{
		func(e *Evidence) { e.Leave.Refused = "claude is limited until 23:00" },
		Ruling{"no leave", attempts.Stopped, attempts.Interrupted, "", false, Resume, "claude is limited until 23:00", ""},
	},
}

var endCases = []rowCase{
	{
		func(e *Evidence) { e.End.Is, e.End.Round = runners.WallLimit, 1 },
		Ruling{"not mended", attempts.Review, attempts.QualityGate, "", false, Retry, "the agent did not fix what the reviewers found: the agent ran out of time", ""},
	},
	{
		func(e *Evidence) { e.End.Is, e.End.Said = runners.Asked, "Which port?" },
		Ruling{"asks a person", attempts.Asked, attempts.Question, attempts.AwaitsAnswer, false, Gate, "Which port?", ""},
	},
	{
		func(e *Evidence) { e.Base.Early = []string{"make test", "make e2e"} },
		Ruling{"cannot prove", attempts.Environment, attempts.TestFailure, attempts.Infrastructure, false, Gate, "make test, make e2e passes before the work, so it cannot prove it (expect: red_then_green)", ""},
	},
	{
		func(e *Evidence) { e.Base.Early, e.End.Is = []string{"make test"}, runners.Failed },
		Ruling{"cannot prove", attempts.Environment, attempts.TestFailure, attempts.Infrastructure, false, Gate, "make test passes before the work, so it cannot prove it (expect: red_then_green); its agent: the agent reported a failure", ""},
	},
	{
		func(e *Evidence) { e.End = &TurnEnd{Is: runners.NoResult, NoResult: true, Session: true} },
		Ruling{"no result, yet", attempts.Agent, attempts.NoResult, "", false, AskResult, "the agent ended without a result", ""},
	},
	{
		func(e *Evidence) { e.End = &TurnEnd{Is: runners.NoResult, NoResult: true} },
		Ruling{"no result", attempts.Agent, attempts.NoResult, "", false, Retry, "the agent ended without a result", ""},
	},
	{
		func(e *Evidence) { e.End = &TurnEnd{Is: runners.BadResult, NoResult: true, Session: true, Asked: true} },
		Ruling{"no result", attempts.Agent, attempts.NoResult, "", false, Retry, "the agent's result cannot be read, and gave none when it was asked again", ""},
	},
	{
		func(e *Evidence) { // its checks decide, and something else kept it from its work
			e.End = &TurnEnd{Is: runners.PermissionDenied, NoResult: true, By: attempts.ResultChecks}
			e.Checks.Runs = []Run{{Name: "make test", Is: Red, How: "make test: exit status 2"}}
		},
		Ruling{"no result", attempts.Environment, attempts.CLIError, "", false, Retry, "the agent's mode denies it a tool it needs", ""},
	},
	{
		func(e *Evidence) {
			e.End.Is, e.End.Category, e.End.Said = runners.Failed, attempts.MissingDependency, "no compiler"
		},
		Ruling{"agent ended", attempts.Agent, attempts.MissingDependency, "", false, Retry, "no compiler", ""},
	},
	{
		func(e *Evidence) { e.End.Is, e.Work.Further = runners.ContextExhausted, true },
		Ruling{"context full", attempts.Unfinished, attempts.ContextSpent, "", false, Resume, "the task does not fit the model's context", ""},
	},
	{
		func(e *Evidence) { e.End.Is = runners.ContextExhausted },
		Ruling{"agent ended", attempts.Agent, attempts.ContextSpent, "", false, Retry, "the task does not fit the model's context", ""},
	},
	{
		func(e *Evidence) { e.End.Is, e.Work.Further = runners.TurnsSpent, true },
		Ruling{"turns used up", attempts.Unfinished, attempts.TurnsSpent, "", false, Resume, "the agent used up its turns", ""},
	},
	{
		func(e *Evidence) { e.End.Is, e.Work.Further = runners.WallLimit, true },
		Ruling{"agent ended", attempts.Timeout, attempts.TimedOut, "", false, Retry, "the agent ran out of time", ""},
	},
	{
		func(e *Evidence) { e.End.Is, e.End.Said = runners.NoModel, "model: x" },
		Ruling{"agent ended", attempts.Model, attempts.ModelUnknown, "", false, Retry, "model: x", ""},
	},
	{
		func(e *Evidence) { e.End.Is = runners.Overloaded },
		Ruling{"agent ended", attempts.Provider, attempts.ProviderError, "", false, Retry, "the provider failed", ""},
	},
}

var workCases = []rowCase{
	{worked(Work{Destroyed: true}), agentRuling("checkout destroyed", "the agent destroyed its worktree")},
	{worked(Work{HalfDone: "rebase"}), agentRuling("half done", "the agent left a rebase half done; its work is kept, but not landed")},
	{worked(Work{Unmerged: "a.go"}), agentRuling("left in conflict", "the agent left a.go in conflict; its work is kept, but not landed")},
	{worked(Work{Untaken: []string{"a", "b"}}), agentRuling("not taken", "git does not take what the agent left in place of a, b; its other work is kept, but not landed")},
	{
		worked(Work{Refused: []string{"a.psd"}, RefusedBy: "git-lfs: not found"}),
		agentRuling("refused by a filter", "git does not take a.psd: git-lfs: not found; the work is kept as it is, but not landed"),
	},
	{worked(Work{OffBranch: "relay/x/T1"}), agentRuling("off the branch", "the agent left the branch relay/x/T1; its work is kept, but not landed")},
	{worked(Work{Rewrote: true}), agentRuling("rewrote history", "the agent rewrote commits that were there before it; its work is kept, but not landed")},
	{worked(Work{TooLarge: "more than 64 MiB"}), agentRuling("too large", "the change is too large to be looked at: more than 64 MiB")},
	{worked(Work{Repository: "lib"}), agentRuling("repository inside", "the agent put a repository into the commit: lib; its content would not land")},
	{worked(Work{Submodule: "lib"}), agentRuling("submodule inside", "the agent committed in submodule lib, and only this worktree has that commit; it would not land")},
	{
		worked(Work{Brought: []string{".env"}}),
		agentRuling("brought files committed", "the agent committed .env, which the user has in no commit and relay had brought here; it is kept, but not landed"),
	},
	{
		worked(Work{Protected: []string{"ci.yml"}, LeftProtected: []string{"Makefile"}}),
		Ruling{"protected files", attempts.Tamper, attempts.Tampered, "", false, Retry, "the agent changed ci.yml, Makefile, which is protected; relay put it back", ""},
	},
	{
		worked(Work{LeftProtected: []string{"ci.yml"}}),
		Ruling{"protected files left", attempts.Tamper, attempts.Tampered, "", false, Retry, "the agent changed ci.yml, which is protected; relay put it back", ""},
	},
	{
		func(e *Evidence) {
			e.Work.LeftProtected = []string{"ci.yml"}
			ran(Run{Name: "make test", Is: Red, How: "make test: exit status 2"})(e)
		},
		Ruling{"protected files left", attempts.Tamper, attempts.Tampered, "", false, Retry, "the agent changed ci.yml, which is protected; relay put it back, and then make test: exit status 2", ""},
	},
	{
		func(e *Evidence) { e.Task.HasChecks, e.Work.Empty = false, true },
		Ruling{"nothing done", attempts.Agent, attempts.NoChange, "", false, Retry, "the agent claims success, but nothing has changed", ""},
	},
	{
		func(e *Evidence) { e.Task.HasChecks, e.Work.Empty, e.Work.Left = false, true, []string{"notes.txt"} },
		Ruling{"nothing done", attempts.Agent, attempts.NoChange, "", false, Retry, "the agent claims success, but nothing has changed but notes.txt, which is not part of the work", ""},
	},
	{
		func(e *Evidence) {
			e.Work.Empty, e.Work.Outside = true, []string{"dist/"}
			ran(Run{Name: "make test", Is: Red, How: "make test: exit status 2"})(e)
		},
		Ruling{"nothing done", attempts.Agent, attempts.NoChange, "", false, Retry, "the agent claims success, but nothing has changed but dist/, which git does not take into a commit, and make test: exit status 2", ""},
	},
	{
		func(e *Evidence) { e.Work.Empty, e.Checks.Offline = true, "make test: exit status 2 there too" },
		Ruling{"nothing done", attempts.Agent, attempts.NoChange, "", false, Retry, "the agent claims success, but nothing has changed, and make test: exit status 2 there too", ""},
	},
	{
		worked(Work{Empty: true, Claimed: []string{"mw.py"}}),
		Ruling{"nothing done", attempts.Agent, attempts.NoChange, "", false, Retry, "the agent claims success, but nothing has changed; it claims to have changed mw.py", ""},
	},
	{
		worked(Work{Empty: true, Absent: []string{"docs/format.md"}}),
		Ruling{"nothing done", attempts.Agent, attempts.NoChange, "", false, Retry, "the agent claims success, but nothing has changed, and the task's docs/format.md does not exist", ""},
	},
	{ // only the epic's checks could say that it is done
		func(e *Evidence) {
			e.Work.Empty = true
			e.Checks.Runs = []Run{{Name: "make lint", OfEpic: true, Is: Red, Before: Red, Alike: true}}
		},
		Ruling{"nothing done", attempts.Agent, attempts.NoChange, "", false, Retry, "the agent claims success, but nothing has changed, and make lint fails, as it did before", ""},
	},
	{
		worked(Work{AsJudged: "no test of the error"}),
		Ruling{"nothing mended", attempts.Review, attempts.QualityGate, "", false, Retry, "the reviewers want changes, and the agent made none: no test of the error", ""},
	},
	{
		func(e *Evidence) { e.Mark.Unfit = "commit 0a1b2c has no author" },
		agentRuling("unfit commits", "commit 0a1b2c has no author; it is kept, but not landed"),
	},
	{
		func(e *Evidence) { e.Mark.Refused = "fatal: bad tree" },
		agentRuling("commits refused", "git does not take what the agent has committed: fatal: bad tree"),
	},
}

var checkCases = []rowCase{
	{
		func(e *Evidence) { e.Checks.SetUp, e.Checks.ByWork = "npm ci: exit status 1", true },
		Ruling{"set-up broken", attempts.Check, attempts.MissingDependency, "", false, Retry, "npm ci: exit status 1; without this work it succeeds", ""},
	},
	{
		ran(Run{Name: "make test", Is: Passed, Changed: "Makefile", Alone: true}),
		Ruling{"changed by a check", attempts.Tamper, attempts.Tampered, "", false, Retry, "Makefile, which is protected, was changed while make test ran", ""},
	},
	{
		ran(Run{Name: "make test", Is: Passed, Changed: "Makefile"}),
		Ruling{"changed beside", attempts.Environment, attempts.CLIError, "", false, Resume, "Makefile, which is protected, was changed while make test ran; it proves nothing", ""},
	},
	{
		ran(Run{Name: "make e2e", Is: Red, Before: Red, How: "make e2e: exit status 127", CannotRun: "make e2e: chromium is missing"}),
		Ruling{"cannot run on the work", attempts.Environment, attempts.MissingDependency, attempts.Infrastructure, false, Gate, "make e2e: chromium is missing", ""},
	},
	{
		ran(Run{Name: "make lint", OfEpic: true, Is: Late, Before: Late, Alike: true, How: "make lint took more than 10m"}),
		Ruling{"broken before", attempts.Environment, attempts.TestFailure, "", false, Resume, "make lint took more than 10m, and in the same way before the work", ""},
	},
	{
		ran(Run{Name: "make test", Is: Red, How: "make test: exit status 2: port in use", Crowded: true}),
		Ruling{"seen beside", attempts.Environment, attempts.TestFailure, "", false, Resume, "make test: exit status 2: port in use; other checks ran beside it", ""},
	},
	{
		func(e *Evidence) {
			e.Work.Others = true
			ran(Run{Name: "make test", Is: Red, How: "make test: exit status 2"})(e)
		},
		Ruling{"other work", attempts.Stopped, attempts.Interrupted, "", false, TakeOther, "make test: exit status 2", ""},
	},
	{
		ran(Run{Name: "make test", Is: Red, How: "make test: exit status 2", Short: "make test", LeftOut: "a.bin (9 MiB)"}),
		Ruling{"left out", attempts.Environment, attempts.TestFailure, "", false, Resume, "make test: exit status 2; relay did not commit a.bin (9 MiB), as the task does not name it: an agent that needs it there commits it itself", "make test"},
	},
	{
		func(e *Evidence) { e.Task.HasChecks, e.Work.Empty, e.Work.LeftOut = false, true, []string{".venv"} },
		Ruling{"nothing done", attempts.Agent, attempts.NoChange, "", false, Retry, "the agent claims success, but nothing has changed but .venv, which relay does not commit", ""},
	},
	{
		ran(Run{Name: "make test", Is: Red, How: "make test: exit status 2: --- FAIL: TestA", Short: "make test: exit status 2"}),
		Ruling{"check failed", attempts.Check, attempts.TestFailure, "", false, Retry, "make test: exit status 2: --- FAIL: TestA", "make test: exit status 2"},
	},
	{
		ran(Run{Name: "make test", Is: Late, Before: Late, Alike: true, How: "make test took more than 10m"}),
		Ruling{"check failed", attempts.Check, attempts.TestFailure, "", false, Retry, "make test took more than 10m", ""},
	},
	{ // what it lacks is the work's own
		ran(Run{Name: "npm test", OfEpic: true, Is: Red, Before: Passed, How: "npm test: exit status 1", Lacks: "npm test cannot run: relay.worktree.setup: [npm ci]"}),
		Ruling{"cannot run on the work", attempts.Environment, attempts.MissingDependency, attempts.Infrastructure, false, Gate, "npm test cannot run: relay.worktree.setup: [npm ci]", ""},
	},
	{ // what passes on the base can run
		ran(Run{Name: "make e2e", Is: Red, Before: Passed, How: "make e2e: exit status 127", CannotRun: "make e2e: chromium is missing"}),
		Ruling{"check failed", attempts.Check, attempts.TestFailure, "", false, Retry, "make e2e: exit status 127", ""},
	},
	{
		func(e *Evidence) {
			e.Work.Left = []string{"a.log", "b.log", "c.log", "d.log"}
			ran(Run{Name: "make test", OfEpic: true, Is: Red, Before: Passed, How: "make test: exit status 2"})(e)
		},
		Ruling{"check failed", attempts.Check, attempts.TestFailure, "", false, Retry, "make test: exit status 2; a.log, b.log, c.log and 1 more was left uncommitted, and is not part of what was checked", ""},
	},
	{
		func(e *Evidence) {
			e.Hook = &Hook{How: "the hook failed: no license", Short: "the hook failed", Alike: true}
		},
		Ruling{"hook fails anyway", attempts.Environment, attempts.TestFailure, "", false, Resume, "the hook failed: no license, and in the same way where nothing has changed: git commit --allow-empty would show it", "the hook failed"},
	},
	{
		func(e *Evidence) { e.Hook = &Hook{How: "the hook failed: a.go: gofmt", Short: "the hook failed"} },
		Ruling{"hook failed", attempts.Check, attempts.TestFailure, "", false, Retry, "the hook failed: a.go: gofmt", "the hook failed"},
	},
	{
		func(e *Evidence) {
			e.End.Session, e.Work.DeletedTests = true, []string{"b_test.go"}
			e.Old = &Old{Check: "make test", How: "exit status 2", Changed: []string{"a_test.go", "b_test.go"}}
		},
		Ruling{"tests changed, and asked", attempts.Stopped, attempts.Interrupted, "", false, AskWhy, "it deletes b_test.go, which the task does not name under files, make test passes only with what the agent changed of a_test.go, which the task does not name under files; with that unchanged: exit status 2", ""},
	},
}

var panelCases = []rowCase{
	{
		func(e *Evidence) {
			e.Panel.Missing = []Absent{{ReviewerEnd(runners.Overloaded), "codex: 529"}, {ReviewerEnd(runners.Auth), "gemini: not logged in"}}
		},
		Ruling{"not reviewed", attempts.Auth, attempts.AuthError, "", false, Resume, "codex: 529; gemini: not logged in", ""},
	},
	{
		func(e *Evidence) { e.Panel = &Panel{Blocked: true, Wants: true, First: "wrong approach"} },
		Ruling{"blocked", attempts.Review, attempts.QualityGate, attempts.QualityGateBlocked, false, Gate, "the reviewer blocks this change: wrong approach", ""},
	},
	{
		func(e *Evidence) { e.Panel = &Panel{Wants: true, MayMend: true, First: "no test"} },
		Ruling{"changes wanted, and mended", attempts.Review, attempts.QualityGate, "", false, Rework, "the reviewer wants changes: no test", ""},
	},
	{
		func(e *Evidence) { e.Panel = &Panel{Wants: true} },
		Ruling{"changes wanted", attempts.Review, attempts.QualityGate, "", false, Retry, "the reviewer wants changes", ""},
	},
	{func(*Evidence) {}, Ruling{Cause: "proved", Outcome: attempts.Success, Next: Land}},
	{ // excused
		ran(Run{Name: "make lint", OfEpic: true, Is: Red, Before: Red, Alike: true, How: "make lint: exit status 1"}),
		Ruling{Cause: "proved", Outcome: attempts.Success, Next: Land},
	},
	{ // done already
		func(e *Evidence) { e.Work.Empty, e.Base.Early = true, []string{"make test"} },
		Ruling{Cause: "proved", Outcome: attempts.Success, Next: Land},
	},
}

// waiverCases are of rulings that a person's commit after a crash turns into uncharged ones.
var waiverCases = []rowCase{
	{
		func(e *Evidence) { e.Work.Theirs, e.Guard.Why = true, "the branch main has moved" },
		Ruling{"somebody committed", attempts.Stopped, attempts.Interrupted, "", false, Resume, "somebody committed after the run was killed, and now: the branch main has moved", ""},
	},
	{
		func(e *Evidence) {
			e.Work.Theirs = true
			ran(Run{Name: "make test", Is: Red, How: "make test: exit status 2"})(e)
		},
		Ruling{"somebody committed", attempts.Stopped, attempts.Interrupted, "", false, Resume, "somebody committed after the run was killed, and now: make test: exit status 2", ""},
	},
	{
		func(e *Evidence) { e.Work.Theirs, e.End.Is = true, runners.Quota },
		Ruling{"agent ended", attempts.Quota, attempts.RateLimited, "", false, Retry, "the provider's usage limit is reached", ""},
	},
	{
		func(e *Evidence) { e.Work.Theirs = true },
		Ruling{Cause: "proved", Outcome: attempts.Success, Next: Land},
	},
}

// Every row of the table has a case that it rules.
func TestRows(t *testing.T) {
	t.Parallel()
	ruled := map[Cause]bool{}
	for _, cases := range [][]rowCase{machineCases, endCases, workCases, checkCases, panelCases, waiverCases} {
		for _, c := range cases {
			e := proved()
			c.change(e)
			got, need := Decide(e)
			if got != c.want || need != Nothing {
				t.Errorf("got %+v\n(needs %q), want\n%+v", got, need, c.want)
			}
			ruled[got.Cause] = true
		}
	}
	if !ruled["somebody committed"] {
		t.Error("the waiver has no case")
	}
	covered(t, rows, ruled)
}

// Every row of the table of landings has a case that it rules. The evidence is that of package merge: the landing, and what the checks say
// of the merged tree.
func TestLandingRows(t *testing.T) {
	t.Parallel()
	ruled := map[Cause]bool{}
	for _, c := range []rowCase{
		{
			func(e *Evidence) { e.Checks.Stopped = "before make test" },
			Ruling{"stopped", attempts.Stopped, attempts.Interrupted, "", false, Resume, "the run was stopped before make test", ""},
		},
		{
			func(e *Evidence) { e.Checks.Unseen = "make test" },
			Ruling{"command lost", attempts.Environment, attempts.CLIError, "", false, Resume, "the process that watched make test died; how it ended is unknown", ""},
		},
		{
			func(e *Evidence) { e.Checks.Spoiled = true },
			Ruling{"checkout spoiled", attempts.Environment, attempts.CLIError, "", false, Resume, "what git knows of the checkout was changed while the checks ran; they prove nothing", ""},
		},
		{
			func(e *Evidence) { e.Checks.SetUp = "npm ci: exit status 1" },
			Ruling{"set-up failed", attempts.Environment, attempts.MissingDependency, "", false, Resume, "npm ci: exit status 1", ""},
		},
		{
			func(e *Evidence) { e.Checks.Offline = "make test: exit status 2 there too" },
			Ruling{"nothing is known", attempts.Environment, attempts.TestFailure, "", false, Resume, "make test: exit status 2 there too", ""},
		},
		{
			func(e *Evidence) { e.Landing.Conflict, e.Landing.With = []string{"a.go", "b.go"}, "T2" },
			Ruling{"conflict", attempts.Conflict, attempts.Conflicted, "", false, Resume, "conflict with T2 in a.go, b.go", ""},
		},
		{
			func(e *Evidence) {
				e.Landing.Since = "T2"
				ran(Run{Name: "make test", Is: Red, How: "make test: exit status 2"})(e)
			},
			Ruling{"red on the merged tree", attempts.Conflict, attempts.Conflicted, "", false, Resume, "it merges, but then make test: exit status 2 (landed since it began: T2)", ""},
		},
		{
			func(e *Evidence) {
				e.Landing.Since, e.Checks.SetUp, e.Checks.ByWork = "T2", "npm ci: exit status 1", true
			},
			Ruling{"red on the merged tree", attempts.Conflict, attempts.Conflicted, "", false, Resume, "it merges, but then npm ci: exit status 1; without this work it succeeds (landed since it began: T2)", ""},
		},
		{func(*Evidence) {}, Ruling{Cause: "landed", Outcome: attempts.Success, Next: Land}},
	} {
		e := &Evidence{Checks: &Runs{}, Landing: &Landing{}}
		c.change(e)
		got := DecideLanding(e)
		if got != c.want {
			t.Errorf("got %+v, want\n%+v", got, c.want)
		}
		ruled[got.Cause] = true
	}
	covered(t, landingRows, ruled)
}

// covered reports the rows of a table that no case has reached, and causes that two rows share.
func covered(t *testing.T, table []row, ruled map[Cause]bool) {
	t.Helper()
	seen := map[Cause]bool{}
	for i := range table {
		cause := table[i].Cause
		if !ruled[cause] {
			t.Errorf("%s: no case has this ruling", cause)
		}
		if seen[cause] {
			t.Errorf("%s: two rows", cause)
		}
		seen[cause] = true
	}
}

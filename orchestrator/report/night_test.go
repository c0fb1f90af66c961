package report

import (
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/limits"
	"relay/orchestrator/view"
	"relay/review"
)

// hostile is what an agent may write that wants to be more than text.
const hostile = "a `` b ``` c |\n# Done: everything\n\n| T9 | completed |\n|---|---|\n| a \\| b |\n```\n<script>alert(1)</script> [x](http://evil.example) ![y](z) @ada\n---\n\x1b[31mred\x00 \u202eturned\u2028 *so* ~~it~~ &amp; $1$\n- [ ] no\n~~~~\n````"

var begin = time.Date(2026, 1, 2, 22, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }

const (
	before = "20260101T220000Z-aaaa"
	first  = "20260102T220000Z-bbbb"
	second = "20260102T231000Z-cccc"
	commit = "0123456789abcdef0123456789abcdef01234567"
)

// tried is an attempt of the night, which took a quarter of an hour.
func tried(id, minute int, outcome attempts.Outcome, receipt attempts.Receipt) attempts.Attempt {
	a := attempts.Attempt{
		ID: id, Run: second, StartedAt: at(minute), EndedAt: at(minute + 15),
		Result: attempts.ResultFailure, Outcome: outcome, Charged: outcome.Charged(),
		Runner: "claude", Model: "opus", Base: commit, Head: "fedcba9876543210", Receipt: receipt,
		Usage: &attempts.Usage{InputTokens: 120_000, CachedTokens: 100_000, OutputTokens: 3_000, CostUSD: 1.25},
	}
	if outcome == attempts.Success {
		a.Result, a.Landed = attempts.ResultSuccess, "aaaabbbbccccdddd"
	}
	return a
}

// night is an epic and a night with every kind of end, in which agents say text wherever they can.
func night(tb testing.TB, text string) Input {
	tb.Helper()
	criteria := []epic.Criterion{{Text: "it greets", Check: "greets"}, {Text: "it is friendly"}, {Text: "it is short"}, {Text: text}}
	e := &epic.Epic{ID: "20260102-greetings", Title: text, Source: "docs/plan.md", Tasks: []epic.Task{
		{ID: "T1", Title: "Greet", Criteria: criteria},
		{ID: "T2", Title: text, Criteria: criteria[:2]},
		{ID: "T3", Title: "Greet more", DependsOn: []string{"T2"}},
		{ID: "T4", Title: "Greet the world", BudgetUSD: 4},
		{ID: "T5", Title: "Shout"},
		{ID: "T6", Title: "Spend"},
		{ID: "T7", Title: "Wait", DependsOn: []string{"T8"}},
		{ID: "T8", Title: "Sleep"},
		{ID: "T9", Title: "Meddle"},
		{ID: "T10", Title: "Ask"},
		{ID: "T11", Title: "Break"},
		{ID: "T12", Title: "Later"},
		{ID: "T13", Title: "Believe"},
	}}
	g, err := epic.NewGraph(e)
	if err != nil {
		tb.Fatal(err)
	}
	failed := attempts.Receipt{ErrorCategory: attempts.CodeError, ErrorSummary: text, Salvage: "refs/relay/x/T1/1", FilesChanged: []string{text}}
	cutShort := tried(1, 80, attempts.Quota, attempts.Receipt{ErrorCategory: attempts.RateLimited, ErrorSummary: "usage limit reached"})
	cutShort.Usage = nil
	other := tried(2, 100, attempts.Success, attempts.Receipt{Summary: text, Verdict: review.Approved, Review: panel(text)})
	other.Runner, other.Model, other.Usage = "codex", text, &attempts.Usage{InputTokens: 5_000, OutputTokens: 100}
	early := tried(1, -1440, attempts.Agent, failed)
	early.Run = before
	asleep := tried(1, 130, attempts.Stopped, attempts.Receipt{})
	asleep.Result, asleep.EndedAt, asleep.Outcome, asleep.Usage = attempts.ResultInProgress, time.Time{}, "", nil
	gated := func(reason attempts.Reason, detail string, list ...attempts.Attempt) *attempts.TaskRecord {
		return &attempts.TaskRecord{Attempts: list, Gate: &attempts.Gate{Reason: reason, Detail: detail, At: at(140)}}
	}
	l := &attempts.Ledger{
		EpicID: e.ID, Integration: attempts.Integration{Branch: "relay/20260102-greetings", From: "main"}, Folded: attempts.Folded{Run: second, Seq: 99},
		Tasks: map[string]*attempts.TaskRecord{
			"T1": {Completed: true, Attempts: []attempts.Attempt{
				tried(1, 5, attempts.Check, attempts.Receipt{ErrorSummary: "greets: exit status 1", Checks: []attempts.CheckRun{{Name: "greets", ExitCode: 1, Seconds: 2, Phase: "task"}}}),
				tried(2, 75, attempts.Success, attempts.Receipt{Summary: "Wrote it.", Statement: attempts.Statement{
					Decisions: map[string]string{"the greeting": text, "where": ""}, Questions: []string{text, "q2", "q3", "q4", "q5", "q6"},
					Discovered: []attempts.Discovery{{Title: "mend the door", Why: "it creaks"}}, Confident: new(bool),
					Implementation: &attempts.Implementation{DesignDecisions: []string{"one function"}, BreakingChanges: []string{text}},
				}, Verdict: review.Approved, Review: proved(text), Checks: []attempts.CheckRun{
					{Name: "greets", Seconds: 1.5, Phase: "task", Attribution: attempts.FixedByTask}, {Name: text, Seconds: 3, Phase: "merged"},
				}}),
			}},
			"T2":  gated(attempts.RepeatedFailure, text, early, tried(2, 76, attempts.Agent, failed)),
			"T4":  {Completed: true, Attempts: []attempts.Attempt{cutShort, other}},
			"T5":  gated(attempts.QualityGateBlocked, "it shouts", tried(1, 90, attempts.Review, attempts.Receipt{ErrorSummary: "it shouts", Verdict: review.Blocked, Findings: "## Finding 1: it shouts\n**Fix:** " + text, Review: panel(text)})),
			"T6":  gated(attempts.BudgetExhausted, "the task's budget is spent: 4.00 of 4.00 USD"),
			"T8":  {Attempts: []attempts.Attempt{asleep}},
			"T9":  gated(attempts.TamperedWith, "a check was changed", tried(1, 95, attempts.Tamper, attempts.Receipt{ErrorSummary: "a check was changed"})),
			"T10": gated(attempts.UserBlocked, ""),
			"T11": gated(attempts.Infrastructure, "no room", tried(1, 99, attempts.Environment, attempts.Receipt{ErrorSummary: "no room"})),
			"T13": {Completed: true, Attempts: []attempts.Attempt{tried(1, 120, attempts.Success, attempts.Receipt{Summary: "I did.", Statement: attempts.Statement{
				Bugfix: &attempts.Bugfix{Symptom: "it was silent", RootCause: text, Fix: "it speaks", RegressionRisk: "it may shout"},
			}})}},
		},
	}
	whole := panel(text)
	whole.Missing = []attempts.Missing{{Reviewer: "bob", Why: text}}
	l.EpicReviews = []attempts.EpicReview{
		{At: at(-1430), Run: before, Base: commit, Head: "fedcba9876543210", Why: "no reviewer answered", Usage: &attempts.Usage{InputTokens: 10, CostUSD: 0.5}},
		{
			At: at(149), Run: second, Base: commit, Head: "fedcba9876543210", Decision: review.NeedsChanges, Summary: text, Reviewed: *whole, Added: nil,
			Findings: []review.Raised{{Finding: review.Finding{Severity: review.High, File: "hello.go", Line: 1, Issue: text}, By: []string{"ann"}}},
			Usage:    &attempts.Usage{InputTokens: 1_000, OutputTokens: 10, CostUSD: 0.25},
		},
	}
	return Input{
		Input: view.Input{
			Epic: e, Graph: g, Ledger: l, MaxAttempts: 3, Caps: limits.Caps{Run: limits.Cap{USD: 50}, Epic: limits.Cap{USD: 5, Tokens: 200_000}},
		},
		Journal: journal(text), Now: at(600), Warnings: []string{text},
	}
}

// proved is a review with a criterion of each kind.
func proved(text string) *attempts.Reviewed {
	return &attempts.Reviewed{
		Rounds: 1, Split: true,
		Opinions: []attempts.Opinion{
			{Reviewer: "ann", Model: "opus", Decision: review.Approved, Verdict: review.Verdict{Summary: text}},
			{Reviewer: "bob", Decision: review.NeedsChanges, Verdict: review.Verdict{Summary: "No.", Findings: []review.Finding{{Severity: review.High}, {Severity: review.Low}, {Severity: review.Low}}}},
		},
		Proofs: []review.Proof{
			{Criterion: "it greets", By: review.ByCheck, Met: true, Check: "greets", Log: "runs/x/T1/2/checks/1-task.log", LogSHA256: commit, Commit: commit},
			{Criterion: "it is friendly", By: review.ByReview, Met: true, Reviewers: []string{"ann", "bob"}, Evidence: text, Commit: commit},
			{Criterion: "it is short", By: review.ByReview, Reviewers: []string{"bob"}, Evidence: "it is long", Commit: commit},
			{Criterion: text, By: review.Unproven},
		},
	}
}

// panel is a review with findings that were put off.
func panel(text string) *attempts.Reviewed {
	return &attempts.Reviewed{
		Opinions: []attempts.Opinion{{Reviewer: text, Decision: review.Approved, Verdict: review.Verdict{Summary: "Fine.", Findings: []review.Finding{{Severity: review.Low}}}}},
		Deferred: []review.Raised{
			{Finding: review.Finding{Severity: review.Low, File: "hello.go", Line: 12, Issue: "it could be shorter", Fix: "shorten it"}, By: []string{"ann", "bob"}},
			{Finding: review.Finding{Severity: review.Low, File: text, Issue: text, Fix: text}},
		},
		Noted: []review.Raised{{Finding: review.Finding{Severity: review.High, File: "old.go", Issue: "an old mistake"}, By: []string{text}}},
	}
}

// journal is a night of two runs, and one before it.
func journal(text string) *view.Journal {
	j := view.NewJournal("")
	for _, e := range events(text) {
		j.Add(e)
	}
	return j
}

func events(text string) []attempts.Event {
	note := func(minute int, kind, task string, attempt int, text string) attempts.Event {
		return attempts.Event{At: at(minute), Type: attempts.TypeNote, Task: task, Attempt: attempt, Note: &attempts.Note{Kind: kind, Text: text}}
	}
	started := func(run string, minute, pid int) attempts.Event {
		return attempts.Event{
			At: at(minute), Run: run, Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{PID: pid, Jobs: 2, Until: at(540)},
		}
	}
	stopped := func(run string, minute, code int, reason, why string) attempts.Event {
		return attempts.Event{
			At: at(minute), Run: run, Type: attempts.TypeRunStopped, RunStopped: &attempts.RunStopped{ExitCode: code, Reason: reason, Why: why},
		}
	}
	return []attempts.Event{
		note(-1500, "lost", "", 0, "before any run"),
		started(before, -1440, 7), note(-1430, "stray", "T1", 1, "of another night"), stopped(before, -1400, 0, "reload", ""),
		started(first, 0, 8), note(10, "tests", "T1", 1, text), stopped(first, 70, 0, "reload", ""), started(second, 70, 8),
		note(71, "plan", "", 0, "relay reload: this run uses epic.yml as it is now; T13 is new"),
		{At: at(95), Type: attempts.TypeCooldown, Task: "T4", Attempt: 1, Cooldown: &attempts.Cooldown{Runner: "claude", Until: at(1500), Why: text}},
		note(100, "switch", "T4", 2, "T4 goes from claude to codex: its usage limit"),
		{At: at(101), Type: attempts.TypeWaiting, Waiting: &attempts.Waiting{Until: at(105), For: text, Why: "overloaded"}},
		{At: at(106), Type: attempts.TypeCooldown, Cooldown: &attempts.Cooldown{Runner: "codex", Why: "a person has said so"}},
		{At: at(107), Type: attempts.TypeGated, Task: "T10", Gate: &attempts.Gate{Reason: attempts.UserBlocked}},
		note(110, "sleep", "", 0, "the machine slept from 23:50 to 00:40"),
		stopped(second, 150, 3, "no_runnable_tasks", ""),
		{At: at(160), Run: second, Type: attempts.TypeUngated, Task: "T12"},
		{At: at(161), Run: second, Type: attempts.TypeReset, Task: "T12"},
		{At: at(162), Run: second, Type: attempts.TypeFinished, Finished: &attempts.Finished{Branch: "relay/x", Into: "main", How: "merge"}},
		{At: at(163), Run: second, Type: attempts.TypeAccepted, Accepted: &attempts.Accepted{}},
		{At: at(164), Run: second, Type: "of a later relay", Task: "T1"},
	}
}

package verdict

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/review"
)

var update = flag.Bool("update", false, "write docs/verdicts.md from the tables of this package")

// docs/verdicts.md is written from the tables.
func TestDocs(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "verdicts.md")
	want := docIntro + rowsDoc(rows, "lands") +
		"\n## Looks\n\n" + docLooks + looksDoc() +
		"\n## How agents end\n\n" + docEnds + endsDoc() +
		"\n## Gates by history\n\n" + docGates + gatesDoc(t) +
		"\n## Landings\n\n" + docLandings + rowsDoc(landingRows, "done")
	for i := range rows {
		if r := &rows[i]; r.Seen == "" || (r.Gate != "" || r.Held) != (r.Lifts != "") {
			t.Errorf("%s lacks what is seen, or what lifts its gate or hold", r.Cause)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/verdicts.md differs from the tables: go test ./orchestrator/verdict -update")
	}
}

const docIntro = `# Verdicts

relay decides what an attempt's end means by this table: the first row that applies decides. relay looks at a part of the evidence only when
a row needs it, so it asks no reviewer about work whose checks fail. Only a row that charges the task uses up one of its attempts.
If a person committed after a crash, no row charges the task: the attempt counts as interrupted ("somebody committed").
` + "`relay ungate TASK`" + ` lifts every gate; the last column says what to do first. This page is generated from the code.

## Attempts

`

const docLooks = `Work that lands may need a look: relay saw something in it and cannot judge that. The task is completed, and tasks that depend on it run.
` + "`relay status`" + ` and the report list it first, and the run exits with code 3. ` + "`relay retry TASK`" + ` repeats the task.
At the end of a run, relay tries work whose checks pass without its code again on all that has landed, and drops the look if checks fail
by then.
Of such work, and of work that nothing proved, ` + "`relay show`" + ` says "accepted" in place of "proved".

`

const docEnds = `The row "agent ended" uses this table. relay asks a failed runner again after a pause, and a refused one after you fixed it.
Three causes that only the run sees replace a verdict: you stop the attempt, a budget is spent, or the disk is full while an agent or a
check fails. Of these relay charges only an attempt that spent its own budget.

`

const docGates = `If the row does not gate the task, relay checks these in order. It counts attempts since the last ungate or retry.

At the start of a run relay lifts ` + "`max_attempts_exceeded`, `repeated_failure` and `infrastructure`" + ` if the integration branch is not where
the task's last attempt began. The task gets one attempt beyond its limit, within its budget. The gate stays if the limit is one attempt, if
that extra attempt is used, or if the work waits for its review. Each run lifts the gate of a task that waited for what its check lacks, and
looks again before any agent works.

`

const docLandings = `These rows decide on proved work when relay puts it onto the integration branch.

`

// rowsDoc renders a table of rows.
func rowsDoc(table []row, lands string) string {
	var b strings.Builder
	heading(&b, "cause", "what is seen", "how often seen", "who is charged", "what next", "what lifts it")
	for i := range table {
		r := &table[i]
		next := map[Next]string{
			Land: lands, AskResult: "relay asks the agent's session for the result", AskWhy: "relay asks the agent's session why; it may undo that", Rework: "the agent's session gets the findings",
			TakeOther: "relay takes the other work",
			Retry:     "another attempt, if one is left", Resume: "another attempt", Hold: "the task waits until all others are done",
			Gate: "gate `" + string(r.Gate) + "`",
		}[r.Next]
		line(&b, string(r.Cause), r.Seen, cmp.Or(r.Often, "once"), r.charges(), next, r.Lifts)
	}
	return b.String()
}

// charges says who is charged.
func (r *row) charges() string {
	switch {
	case r.Next == Land:
		return ""
	case r.Next == AskResult || r.Next == AskWhy || r.Next == Rework || r.Next == TakeOther:
		return "not yet"
	case r.ends:
		return "see [how agents end](#how-agents-end)"
	}
	return charged(r.Outcome)
}

func charged(o attempts.Outcome) string {
	if o.Charged() {
		return "the task"
	}
	return "not charged"
}

// looksDoc renders the table of looks.
func looksDoc() string {
	var b strings.Builder
	heading(&b, "cause", "what is seen", "what clears it")
	for _, l := range looks {
		clears := "a person: relay approve"
		if l.Approval {
			clears = "the reviewers' approval, or " + clears
		}
		line(&b, l.Cause, l.Seen, clears)
	}
	return b.String()
}

// endsDoc renders the table of runner outcomes.
func endsDoc() string {
	var b strings.Builder
	heading(&b, "end", "message, if the agent gives none", "outcome", "category", "who is charged", "the runner")
	for _, end := range slices.Sorted(maps.Keys(runnerOutcomes)) {
		row := OutcomeOf(end)
		if row.Outcome == attempts.Success {
			line(&b, code(end), "", code(row.Outcome), "", "", "works")
			continue
		}
		line(&b, code(end), row.Words, code(row.Outcome), code(row.Category), charged(row.Outcome), runnerDoc(ClassOf(row.Outcome)))
	}
	return b.String()
}

func runnerDoc(c Class) string {
	switch {
	case c.Refused:
		return "refused"
	case c.Limited:
		return "failed: limited"
	case c.Runner == RunnerFailed:
		return "failed"
	case c.Runner == RunnerAnswered:
		return "works"
	}
	return "not known"
}

// gatesDoc renders the gates that follow from what else relay knows of a task, each with the reason that GateOf gives for an example of it.
func gatesDoc(t *testing.T) string {
	t.Helper()
	failed := func(o attempts.Outcome, why string) attempts.Ended {
		return attempts.Ended{Result: attempts.ResultFailure, Outcome: o, Charged: o.Charged(), Receipt: attempts.Receipt{ErrorSummary: why}}
	}
	after := func(ended ...attempts.Ended) (s Standing) {
		for i, e := range ended {
			at := attempts.Attempt{ID: i + 1, Result: e.Result, Outcome: e.Outcome, Charged: e.Charged, Receipt: e.Receipt}
			at.EndedAt = at.EndedAt.AddDate(2000, 0, 0)
			s.Record.Attempts = append(s.Record.Attempts, at)
		}
		return s
	}
	a, b, c := failed(attempts.Check, "a"), failed(attempts.Agent, "b"), failed(attempts.Timeout, "c")
	blocked, tampered, conflict, down := failed(attempts.Review, "no"), failed(attempts.Tamper, "t"), failed(attempts.Conflict, "x"), failed(attempts.Provider, "529")
	blocked.Receipt.Verdict = review.Blocked
	many := after(slices.Repeat([]attempts.Ended{down}, defaultMaxUncharged-1)...)
	var doc strings.Builder
	heading(&doc, "gate", "what is seen", "how often seen", "what lifts it")
	for _, g := range []struct {
		held               bool
		ended              attempts.Ended
		before             Standing
		seen, often, lifts string
	}{
		{true, failed(attempts.Environment, "no make"), Standing{PutOff: true}, "a task that waited until all others were done still cannot be tried", "twice", "supply what it lacks"},
		{false, tampered, after(tampered), "an attempt tampers again, or tampers and was the last one", "twice", "a person: relay ungate"},
		{false, blocked, Standing{}, "a reviewer blocks the change", "once", "a person: relay ungate"},
		{
			false, c, after(a, b), "charged attempts reach `max_attempts_per_task`, also if you lower it later",
			fmt.Sprintf("%d times by default", defaultMaxAttempts), "change the task, or raise the limit",
		},
		{false, a, after(a), "two charged attempts in a row print the same error, or the last four two in turn, and no check has fewer failing tests; a check that prints nothing fails in the same way on the same change; an exit status, a limit or a missing change alone does not count as an error", "twice", "change the task"},
		{
			false, conflict, after(conflict, conflict), "attempts end as `conflict`, or as `environment` (a fault of this machine)",
			fmt.Sprintf("%d times", maxCostly), "declare shared files, or repair the machine",
		},
		{
			false, down, many, "other uncharged attempts reach `max_uncharged`; those that were stopped, ran out of budget, or whose runner is refused do not count",
			"as often as the setting says", "wait for the provider",
		},
		{false, a, Standing{OverBudget: "spent"}, "the task's budget is spent and the attempt did not succeed", "once", "raise the budget"},
		{false, down, Standing{NoRunner: "none is left"}, "no runner is left for the task", "once", "make a runner available"},
	} {
		gate := GateOf(Reported{Outcome: g.ended.Outcome, Receipt: g.ended.Receipt, Held: g.held}, g.ended, g.before)
		if gate == nil {
			t.Errorf("no gate though %s", g.seen)
			continue
		}
		line(&doc, code(gate.Reason), g.seen, g.often, g.lifts)
	}
	return doc.String()
}

func code[T ~string](word T) string { return "`" + string(word) + "`" }

// heading adds the head of a table.
func heading(b *strings.Builder, cells ...string) {
	line(b, cells...)
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

// line adds a line of a table.
func line(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/epic"
	"relay/orchestrator/decide"
)

// mixed is a plan with a task in every state.
func mixed(t *testing.T) (*project.Plan, *attempts.View) {
	t.Helper()
	e := &epic.Epic{Version: 2, ID: "20260101-mixed", Title: "Mixed", Tasks: []epic.Task{
		{ID: "T1", Title: "Done", Checks: []epic.Check{{Name: "x", Run: "true"}}},
		{ID: "T2", Title: "Running", DependsOn: []string{"T1"}},
		{ID: "T3", Title: "Gated", MaxAttempts: 2},
		{ID: "T4", Title: "Behind it", DependsOn: []string{"T3", "T2"}},
		{ID: "T5", Title: "Further behind", DependsOn: []string{"T4"}},
		{ID: "T6", Title: "Waiting", DependsOn: []string{"T2"}},
		{ID: "T7", Title: "Failed once"},
		{ID: "T8", Title: "On the agent's word"},
	}}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	failed := func(id int, text string) attempts.Attempt {
		return attempts.Attempt{
			ID: id, StartedAt: at, EndedAt: at.Add(time.Minute), Result: attempts.ResultFailure, Outcome: attempts.Agent, Charged: true,
			Runner: "claude", Usage: &attempts.Usage{InputTokens: 1000, OutputTokens: 10, CostUSD: 0.5},
			Receipt: attempts.Receipt{ErrorCategory: attempts.CodeError, ErrorSummary: text},
		}
	}
	succeeded := attempts.Attempt{
		ID: 1, StartedAt: at, EndedAt: at.Add(time.Minute), Result: attempts.ResultSuccess, Outcome: attempts.Success,
	}
	proved := succeeded
	proved.Receipt.Checks = []attempts.CheckRun{{Name: "x", Phase: "task"}}
	running := attempts.Attempt{ID: 2, StartedAt: at, Result: attempts.ResultInProgress, Runner: "codex"}
	l := &attempts.Ledger{EpicID: e.ID, Folded: attempts.Folded{Run: "20260102T030400Z-abcd"}, Tasks: map[string]*attempts.TaskRecord{
		"T1": {Completed: true, Attempts: []attempts.Attempt{failed(1, "no"), proved}},
		"T2": {Attempts: []attempts.Attempt{failed(1, "nope"), running}},
		"T3": {Attempts: []attempts.Attempt{failed(1, "a"), failed(2, "b")}, Gate: &attempts.Gate{Reason: attempts.MaxAttempts, Detail: "2 of 2", At: at}},
		"T7": {Attempts: []attempts.Attempt{failed(1, "the disk is full of eels")}},
		"T8": {Completed: true, Attempts: []attempts.Attempt{succeeded}},
	}}
	l.Status = attempts.RelayStatus{State: "running", PID: 42, StartedAt: at}
	return &project.Plan{Epic: e, Graph: g}, &attempts.View{Ledger: l, Running: true, Holder: &attempts.Holder{PID: 42, Host: "den", Since: at}}
}

func TestStandingTellsEveryState(t *testing.T) {
	t.Parallel()
	s := standMixed(t, false)
	if got, want := s.Counts, (decide.Counts{Total: 8, Completed: 2, InProgress: 1, Pending: 1, Blocked: 3, Gated: 1}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got, want := s.Usage, (attempts.Usage{InputTokens: 5000, OutputTokens: 50, CostUSD: 2.5}); got != want {
		t.Errorf("usage %+v, want %+v", got, want)
	}
	for i, want := range []string{
		"T1 completed 1/3", "T2 in_progress 2/3", "T3 gated 2/2 max_attempts_exceeded", "T4 blocked 0/3 by T3", "T5 blocked 0/3 by T3",
		"T6 blocked 0/3 for T2", "T7 pending 1/3 the disk is full of eels", "T8 completed 0/3 unverified",
	} {
		task := s.Tasks[i]
		got := fmt.Sprintf("%s %s %d/%d", task.ID, task.Status, task.Attempt, task.MaxAttempts)
		switch {
		case task.Reason != "":
			got += " " + string(task.Reason)
		case task.RootCauses != nil:
			got += " by " + strings.Join(task.RootCauses, ",")
		case task.WaitsFor != nil:
			got += " for " + strings.Join(task.WaitsFor, ",")
		case task.Unverified:
			got += " unverified"
		case task.LastError != "" && task.Status == attempts.Pending:
			got += " " + task.LastError
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func standMixed(t *testing.T, verbose bool) *Report {
	t.Helper()
	p, v := mixed(t)
	return New(p, v, 3, verbose)
}

func TestStatusFollowsItsSchema(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("status", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("status")
	if err != nil {
		t.Fatal(err)
	}
	p, v := mixed(t)
	fresh := &attempts.View{Ledger: &attempts.Ledger{}}
	crashed := &attempts.View{Ledger: v.Ledger, Holder: v.Holder, Edit: "x", Warnings: []string{"y"}}
	foreseen := New(p, v, 3, false)
	foreseen.estimate(configured("worktree", 2), v.Holder.Since)
	foreseen.sayForecast(configured("worktree", 2), v.Holder.Since)
	for name, s := range map[string]*Report{
		"running": New(p, v, 3, false), "foreseen": foreseen, "verbose": New(p, v, 3, true), "fresh": New(p, fresh, 3, false), "crashed": New(p, crashed, 3, false),
	} {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A chain behind a gate must not cost more than one walk over the graph.
func TestRootCausesReachTheEndOfALongChain(t *testing.T) {
	t.Parallel()
	const n = 5000
	e := &epic.Epic{Version: 2, ID: "20260101-chain", Title: "Chain"}
	for i := range n {
		task := epic.Task{ID: fmt.Sprintf("T%d", i), Title: "x"}
		if i > 0 {
			task.DependsOn = []string{fmt.Sprintf("T%d", i-1)}
		}
		e.Tasks = append(e.Tasks, task)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	l := &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{"T0": {Gate: &attempts.Gate{Reason: attempts.UserBlocked}}}}
	causes := attempts.AllRootCauses(l, g)
	if got := causes[n-1]; len(got) != 1 || got[0] != "T0" {
		t.Errorf("root causes of the last task: %v, want [T0]", got)
	}
}

// What to type for gated tasks stands in columns.
func TestNeedsAreAligned(t *testing.T) {
	t.Parallel()
	held := &attempts.TaskRecord{Gate: &attempts.Gate{Reason: attempts.UserBlocked}}
	s := longReport(t, 11, func(int) []int { return nil }, map[string]*attempts.TaskRecord{"T2": held, "T10": held})
	var out bytes.Buffer
	Printer{}.Print(&out, "", "needs", s)
	want := `
needs you:
  T2: waits for a person
    relay show T2     what it is about;  relay ungate T2 to try again
  T10: waits for a person
    relay show T10    what it is about;  relay ungate T10 to try again
`
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// relay lists ten tasks that need a look, and how many more there are. Those with the same cause have one entry.
func TestLooksNeedYou(t *testing.T) {
	t.Parallel()
	records := map[string]*attempts.TaskRecord{}
	for i := range 14 {
		text := fmt.Sprintf("x%d_test.go proves less than before", max(i, 2))
		records[fmt.Sprintf("T%d", i)] = &attempts.TaskRecord{Completed: true, Attempts: []attempts.Attempt{
			{ID: 1, Result: attempts.ResultSuccess, Receipt: attempts.Receipt{Looks: []attempts.Look{{Text: text}}}},
		}}
	}
	s := longReport(t, 14, func(int) []int { return nil }, records)
	var out bytes.Buffer
	Printer{Width: 200}.Print(&out, "", "needs", s)
	got := out.String()
	if strings.Count(got, "needs a look") != 10 || !strings.Contains(got, "(T0, T1 and 1 more: same look)\n") || !strings.Contains(got, "  and 2 tasks more:") {
		t.Errorf("got %s", got)
	}
	if !s.HasWork() {
		t.Error("nothing is left to do")
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 0, 0, time.Local)
	if got, want := FormatTime(now.Add(-time.Hour), now), "02:04"; got != want {
		t.Errorf("moment = %q, want %q", got, want)
	}
	if got, want := FormatTime(now.AddDate(0, 0, -1), now), "Thu 2026-01-01 03:04"; got != want {
		t.Errorf("moment = %q, want %q", got, want)
	}
}

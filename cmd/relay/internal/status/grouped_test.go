package status

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/epic"
)

// longReport returns the report of an epic of n tasks whose dependencies and records are given, and its plan.
func longReport(t *testing.T, n int, deps func(i int) []int, records map[string]*attempts.TaskRecord) *Report {
	t.Helper()
	e := &epic.Epic{Version: 2, ID: "20260101-long", Title: "Long"}
	for i := range n {
		task := epic.Task{ID: fmt.Sprintf("T%d", i), Title: "Something"}
		for _, d := range deps(i) {
			task.DependsOn = append(task.DependsOn, fmt.Sprintf("T%d", d))
		}
		e.Tasks = append(e.Tasks, task)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	return New(&project.Plan{Epic: e, Graph: g}, &attempts.View{Ledger: &attempts.Ledger{Tasks: records}, Running: true}, 3, false)
}

// A long epic is told on one screen: what needs a person and what runs in lines, and the others by what really holds them up.
func TestLongEpicIsGrouped(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	records := map[string]*attempts.TaskRecord{
		"T7": {Gate: &attempts.Gate{Reason: attempts.UserBlocked, Detail: strings.Repeat("long ", 40)}},
		"T3": {Attempts: []attempts.Attempt{{ID: 1, StartedAt: at, Result: attempts.ResultInProgress, Runner: "claude"}}},
		"T9": {Gate: &attempts.Gate{Reason: attempts.UserBlocked}},
	}
	records["T11"] = &attempts.TaskRecord{Attempts: []attempts.Attempt{
		{ID: 1, Result: attempts.ResultFailure, Outcome: attempts.Agent, Receipt: attempts.Receipt{ErrorSummary: "no"}},
	}}
	for _, i := range []int{0, 1, 2, 4, 5, 10} {
		records[fmt.Sprintf("T%d", i)] = &attempts.TaskRecord{Completed: true}
	}
	s := longReport(t, 60, func(i int) []int {
		switch {
		case i == 12:
			return []int{7}
		case i > 12 && i < 20: // a chain behind the gated T7
			return []int{i - 1}
		case i >= 20 && i < 30: // behind what runs, and behind a gate too
			return []int{3, 7}
		case i >= 30 && i < 50 && i%2 == 0:
			return []int{3, 6}
		case i == 59:
			return []int{6, 8, 31, 33}
		}
		return nil
	}, records)
	var out bytes.Buffer
	Write(&out, s, Printer{Width: 80, Now: at.Add(time.Minute)})
	_, got, _ := strings.Cut(out.String(), "\n\n")
	want := `  T7  gated             Something  (18 tasks wait for it)
      waits for a person: long long long long long long long long long long long
      long long long long long long long long long long long long long long lo…
  T9  gated             Something
      waits for a person
  T3  in progress  1/3  Something  (claude, 1m00s)

  completed        6  T0, T1, T2, T4, T5, T10
  tried before     1  T11
  ready           21  T6, T8, T31, T33, T35, T37, T39, T41, T43, T45 and 11 more
  waiting         18  T12, T13, T14, T15, T16 and 13 more: blocked by T7 (held)
  waiting         11  T30, T32, T34, T36, T38, T40, T42, T44, T46, T48, T59
  relay status --all lists every task

needs you:
  T7: waits for a person: long long long long long long long long long long lon…
    relay show T7    what it is about;  relay ungate T7 to try again
  T9: waits for a person
    relay show T9    what it is about;  relay ungate T9 to try again
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for name, l := range map[string]Printer{"all": {Width: 80, All: true}, "verbose": {Width: 80, Verbose: true}} {
		out.Reset()
		Write(&out, s, l)
		if got := strings.Count(out.String(), "Something"); got != 60 {
			t.Errorf("%s: %d tasks are listed, want 60", name, got)
		}
	}
}

// A report of ten thousand tasks, of which very many are gated and wait for other sets of tasks, fits on a screen.
func TestHugeEpicFitsOnAScreen(t *testing.T) {
	t.Parallel()
	records := map[string]*attempts.TaskRecord{}
	for i := 0; i < 2000; i += 3 {
		records[fmt.Sprintf("T%d", i)] = &attempts.TaskRecord{Gate: &attempts.Gate{Reason: attempts.UserBlocked, Detail: "no"}}
		records[fmt.Sprintf("T%d", i+1)] = &attempts.TaskRecord{Completed: true}
	}
	s := longReport(t, 10_000, func(i int) []int {
		if i < 2000 {
			return nil
		}
		return []int{i % 2000, i * 7 % 1999, i / 2}
	}, records)
	var out bytes.Buffer
	begin := time.Now()
	Write(&out, s, Printer{Width: 80})
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if got := strings.Count(out.String(), "\n"); got > 50 {
		t.Errorf("%d lines:\n%s", got, out.String())
	}
	sum := 0
	for _, g := range s.groups(nil, true) {
		sum += len(g.tasks)
	}
	if sum != 10_000 {
		t.Errorf("%d tasks are in groups", sum)
	}
}

// Of very many groups the largest are told, and how many more there are.
func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	records := map[string]*attempts.TaskRecord{}
	for i := range 30 {
		records[fmt.Sprintf("T%d", i)] = &attempts.TaskRecord{Gate: &attempts.Gate{Reason: attempts.MaxAttempts}}
	}
	s := longReport(t, 60, func(i int) []int {
		if i < 30 {
			return nil
		}
		return []int{i - 30}
	}, records)
	var out bytes.Buffer
	Write(&out, s, Printer{Width: 80})
	if want := "  and 19 tasks in 19 groups more\n"; !strings.Contains(out.String(), want) {
		t.Errorf("got\n%s\nwithout %q", out.String(), want)
	}
}

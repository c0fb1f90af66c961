package schedule

import (
	"errors"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
)

const diamond = `version: 2
id: 20260101-diamond
title: diamond
tasks:
  A: {title: a, points: 1}
  B: {title: b, depends_on: [A], points: 5}
  C: {title: c, depends_on: [A], points: 1}
  D: {title: d, depends_on: [B, C]}
  E: {title: e, priority: p0}
  F: {title: f}
`

func planOf(t *testing.T, text string) (*epic.Epic, *epic.Graph) {
	t.Helper()
	e, err := epic.Read("epic.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	return e, g
}

func TestSelection(t *testing.T) {
	t.Parallel()
	_, g := planOf(t, diamond)
	for ids, want := range map[string]string{"": "", "A": "A", "D": "ABCD", "C E": "ACE", "F F": "F", "B C": "ABC"} {
		wanted, err := Select(g, strings.Fields(ids))
		got := ""
		for i, yes := range wanted {
			if yes {
				got += g.ID(i)
			}
		}
		if err != nil || got != want || (ids == "") != (wanted == nil) {
			t.Errorf("%q: got %q (%v), want %q", ids, got, err, want)
		}
	}
	var refused *attempts.RefusedError
	if _, err := Select(g, []string{"A", "Z"}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "Z") {
		t.Errorf("got %v, want Z refused", err)
	}
}

// The order is a function of the ledger and of the calls since, whatever the schedule was asked in between.
func TestSchedule(t *testing.T) {
	t.Parallel()
	e, g := planOf(t, diamond)
	done, gate := &attempts.TaskRecord{Completed: true}, &attempts.TaskRecord{Gate: &attempts.Gate{}}
	for name, c := range map[string]struct {
		tasks map[string]*attempts.TaskRecord
		only  []string
		gates string // tasks that end gated when they run
		want  string
	}{
		"all":                    {want: "A B C E D F"},
		"A is done":              {tasks: map[string]*attempts.TaskRecord{"A": done}, want: "B C E D F"},
		"B is gated":             {tasks: map[string]*attempts.TaskRecord{"B": gate}, want: "A C E F"},
		"only C":                 {only: []string{"C"}, want: "A C"},
		"only D, and C is gated": {only: []string{"D"}, tasks: map[string]*attempts.TaskRecord{"C": gate}, want: "A B"},
		"A gates":                {gates: "A", want: "A E F"},
		"E and B gate":           {gates: "EB", want: "A B C E F"},
		"all is done":            {tasks: map[string]*attempts.TaskRecord{"A": done, "B": done, "C": done, "D": done, "E": done, "F": done}},
		"done though it waits":   {tasks: map[string]*attempts.TaskRecord{"D": done}, want: "A B C E F"},
	} {
		wanted, err := Select(g, c.only)
		if err != nil {
			t.Fatal(err)
		}
		s := New(e, g, &attempts.Ledger{Tasks: c.tasks}, wanted)
		var got []string
		for {
			if none := startNext(s, func(int) bool { return false }); none >= 0 {
				t.Fatal("it gave a task that does not fit")
			}
			i := startNext(s, func(int) bool { return true })
			if i < 0 {
				break
			}
			s.Requeue(i)
			if again := startNext(s, func(k int) bool { return k == i }); again != i || s.CountRunning() != 1 {
				t.Fatalf("%s: put back, %d comes as %d, %d running", name, i, again, s.CountRunning())
			}
			got = append(got, g.ID(i))
			if strings.Contains(c.gates, g.ID(i)) {
				s.Gate(i)
			} else {
				s.Complete(i)
			}
		}
		if strings.Join(got, " ") != c.want || s.CountRunning() != 0 {
			t.Errorf("%s: got %v, want %s; %d running", name, got, c.want, s.CountRunning())
		}
	}
}

// Work that a killed run had verified lands even when its task was not selected. If it cannot land, it is not done
// again.
func TestOutsideStaysOutside(t *testing.T) {
	t.Parallel()
	e, g := planOf(t, diamond)
	wanted, err := Select(g, []string{"F"})
	if err != nil {
		t.Fatal(err)
	}
	s := New(e, g, &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{}}, wanted)
	at, _ := g.Index("E")
	s.Start(at)
	s.Requeue(at)
	anybody := func(int) bool { return true }
	if i := startNext(s, anybody); i < 0 || g.ID(i) != "F" {
		t.Errorf("first is %d, want F", i)
	}
	if i := startNext(s, anybody); i >= 0 {
		t.Errorf("then %s, want nobody", g.ID(i))
	}
}

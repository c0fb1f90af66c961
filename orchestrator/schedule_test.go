package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/trees"
	"relay/orchestrator/words"
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
		wanted, err := selection(g, strings.Fields(ids))
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
	var refused *words.RefusedError
	if _, err := selection(g, []string{"A", "Z"}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "Z") {
		t.Errorf("got %v, want Z refused", err)
	}
}

// The order is a function of the ledger and of what was told since, whatever the schedule was asked in between.
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
		wanted, err := selection(g, c.only)
		if err != nil {
			t.Fatal(err)
		}
		s := newSchedule(e, g, &attempts.Ledger{Tasks: c.tasks}, wanted)
		var got []string
		for {
			if none := s.next(func(int) bool { return false }); none >= 0 {
				t.Fatal("it gave a task that does not fit")
			}
			i := s.next(func(int) bool { return true })
			if i < 0 {
				break
			}
			s.again(i)
			if again := s.next(func(k int) bool { return k == i }); again != i || s.running != 1 {
				t.Fatalf("%s: put back, %d comes as %d, %d running", name, i, again, s.running)
			}
			got = append(got, g.ID(i))
			if strings.Contains(c.gates, g.ID(i)) {
				s.gated(i)
			} else {
				s.completed(i)
			}
		}
		if strings.Join(got, " ") != c.want || s.running != 0 {
			t.Errorf("%s: got %v, want %s; %d running", name, got, c.want, s.running)
		}
	}
}

// Side by side, two attempts that end at once share the guard and the copy of .git.
func TestSharedGuard(t *testing.T) {
	t.Parallel()
	l := newLab(t, `rm -rf .git; echo x > "$RELAY_TASK"`)
	l.c.o.Isolation, l.c.o.Jobs, l.c.tree = IsolationShared, 4, nil
	l.begin()
	var all sync.WaitGroup
	for _, id := range []string{"T1", "T2", "T3", "T4"} {
		all.Go(func() {
			a := Assignment{Run: l.c.o.Run, Task: epic.Task{ID: id, Title: id}, Attempt: 1, Runner: "sh"}
			if err := l.c.Brief(t.Context(), a); err != nil {
				t.Error(err)
			}
			f, err := l.c.Attempt(t.Context(), a)
			if err != nil || f.Gate != "" {
				t.Errorf("%s: %s %q, gate %q (%v)", id, f.Outcome, f.Receipt.ErrorSummary, f.Gate, err)
			}
		})
	}
	all.Wait()
	if got := l.Git("log", "--format=%s"); got != "Begin" {
		t.Errorf("the log is %s", got)
	}
}

// A run that is stopped before its agent begins leaves nothing open and charges nobody.
func TestStoppedBeforeTheAgent(t *testing.T) {
	t.Parallel()
	said := map[string]string{"brief": "stopped before the agent began", "baseline": "the run was stopped before the agent began"}
	for name, checks := range map[string][]epic.Check{"brief": nil, "baseline": {{Name: "check", Run: "sleep 60", Expect: epic.ExpectRedThenGreen}}} {
		l := newLab(t, "echo x > work.txt").begin()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(ErrInterrupted)
		f, err := l.c.Attempt(ctx, Assignment{Run: l.c.o.Run, Task: epic.Task{ID: "T1", Checks: checks}, Attempt: 1, Runner: "sh", Base: l.Git("rev-parse", "HEAD")})
		if err != nil || f.Outcome != attempts.Stopped {
			t.Errorf("%s: got %s (%v), want stopped", name, f.Outcome, err)
		}
		if f.Receipt.ErrorSummary != said[name] {
			t.Errorf("%s: got %q, want %q", name, f.Receipt.ErrorSummary, said[name])
		}
		l.Wants(map[string]string{"work.txt": "-"})
	}
}

// BenchmarkVault brings the copy of a repository with 20,000 loose objects up to date again.
func BenchmarkVault(b *testing.B) {
	git := filepath.Join(b.TempDir(), ".git")
	for i := range 20_000 {
		name := fmt.Sprintf("%02x/%038x", i%256, i)
		if err := errors.Join(os.MkdirAll(filepath.Join(git, "objects", name[:2]), 0o755), os.WriteFile(filepath.Join(git, "objects", name), nil, 0o444)); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	v := &trees.Vault{GitDir: git, Store: filepath.Join(b.TempDir(), "copy")}
	for b.Loop() {
		if err := v.Save(); err != nil {
			b.Fatal(err)
		}
	}
}

// What a killed run had proved lands also when nobody asks for its task. When it cannot, nobody does it again either.
func TestOutsideStaysOutside(t *testing.T) {
	t.Parallel()
	e, g := planOf(t, diamond)
	wanted, err := selection(g, []string{"F"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSchedule(e, g, &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{}}, wanted)
	at, _ := g.Index("E")
	s.begun(at)
	s.again(at)
	anybody := func(int) bool { return true }
	if i := s.next(anybody); i < 0 || g.ID(i) != "F" {
		t.Errorf("first is %d, want F", i)
	}
	if i := s.next(anybody); i >= 0 {
		t.Errorf("then %s, want nobody", g.ID(i))
	}
}

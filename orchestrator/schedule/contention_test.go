package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"relay/attempts"
	"relay/epic"
)

// filed makes a plan of tasks T0, T1, … that declare these files.
func filed(tb testing.TB, l *attempts.Ledger, files ...[]string) *Schedule {
	tb.Helper()
	e := &epic.Epic{}
	for i := range files {
		e.Tasks = append(e.Tasks, epic.Task{ID: fmt.Sprintf("T%d", i), Files: files[i]})
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		tb.Fatal(err)
	}
	return New(e, g, l, nil)
}

func anybody(int) bool { return true }

// Tasks that declare the same file start beside each other, but those of other files start first.
func TestDeclaredFilesAreAHint(t *testing.T) {
	t.Parallel()
	s := filed(t, &attempts.Ledger{}, []string{"a.go"}, []string{"./a.go"}, []string{"b.go"}, nil)
	var got []int
	for range 5 {
		got = append(got, startNext(s, anybody))
	}
	if want := []int{0, 2, 3, 1, -1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// While work waits for its landing, a task on a file that it changes does not start: it would not see the change.
func TestLandingFilesAreWaitedFor(t *testing.T) {
	t.Parallel()
	s := filed(t, &attempts.Ledger{}, []string{"a.go"}, []string{"pkg/**"}, []string{"b.go"})
	s.Start(0)
	s.Contention.AwaitLanding(0, []string{"a.go", "pkg/x/y.go"})
	if got := []int{startNext(s, anybody), startNext(s, anybody)}; !slices.Equal(got, []int{2, -1}) {
		t.Errorf("got %v, want the task on another file alone", got)
	}
	s.Complete(0)
	if got := startNext(s, anybody); got != 1 {
		t.Errorf("got %d after the landing, want the task on pkg", got)
	}
}

// Tasks on a file in which the work of two has conflicted run one at a time, also in the next run.
func TestOneAtATimeAfterTwoConflicts(t *testing.T) {
	t.Parallel()
	conflict := func(file string) *attempts.TaskRecord {
		lost := attempts.Receipt{Contested: []string{file}}
		return &attempts.TaskRecord{Attempts: []attempts.Attempt{{ID: 1, Outcome: attempts.Conflict, Receipt: lost}}}
	}
	files := [][]string{{"go.mod"}, {"CHANGELOG"}, nil, {"CHANGE*"}}
	earlier := &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{"T1": conflict("CHANGELOG"), "T2": conflict("CHANGELOG"), "T0": conflict("go.mod")}}
	now := filed(t, &attempts.Ledger{}, files...)
	now.AddContested(1, []string{"CHANGELOG"})
	now.AddContested(2, []string{"CHANGELOG"})
	for name, s := range map[string]*Schedule{"in this run": now, "in the next run": filed(t, earlier, files...)} {
		if got := []int{startNext(s, anybody), startNext(s, anybody), startNext(s, anybody)}; !slices.Equal(got, []int{0, 1, -1}) {
			t.Errorf("%s: got %v, want T0 and T1 at once and then none", name, got)
		}
		s.Complete(1)
		if got := []int{startNext(s, anybody), startNext(s, anybody)}; !slices.Equal(got, []int{2, -1}) {
			t.Errorf("%s: got %v, want T2 alone, which has lost the file", name, got)
		}
		s.Requeue(2)
		s.Start(2)
		s.Complete(2)
		if got := startNext(s, anybody); got != 3 {
			t.Errorf("%s: got %d, want T3", name, got)
		}
	}
	once := filed(t, &attempts.Ledger{}, files...)
	once.AddContested(1, []string{"CHANGELOG"})
	for range files {
		if startNext(once, anybody) < 0 {
			t.Error("a task waits after one conflict")
		}
	}
}

// Whatever begins and ends, no task starts that must wait, none waits that need not, and no hold outlives its task.
func TestContentionHoldsAndLetsGo(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c/x", "c/**", "*"}
	waited := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		files := make([][]string, 12)
		for i := range files {
			files[i] = slices.Clone(names[:r.IntN(3)])
			r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		}
		s := filed(t, &attempts.Ledger{}, files...)
		var running []int
		for range 100 {
			if i := startNext(s, anybody); i >= 0 {
				running = append(running, i)
			} else {
				for i := range s.Ready.All() {
					if waited++; !s.Contention.MustWait(i) {
						t.Fatalf("seed %d: task %d did not start beside %v", seed, i, running)
					}
				}
			}
			if len(running) == 0 {
				break
			}
			switch k := running[r.IntN(len(running))]; r.IntN(5) {
			case 0:
				s.Contention.AwaitLanding(k, []string{[]string{"a", "b", "c/x"}[r.IntN(3)]})
			case 1:
				s.Requeue(k)
				s.AddContested(k, []string{[]string{"a", "b", "c/x"}[r.IntN(3)]})
				running = slices.DeleteFunc(running, func(i int) bool { return i == k })
			default:
				s.Complete(k)
				running = slices.DeleteFunc(running, func(i int) bool { return i == k })
			}
		}
		for _, i := range running {
			s.Complete(i)
		}
		if c := s.Contention; len(c.holders)+len(c.declared)+len(c.landing) > 0 {
			t.Fatalf("seed %d: holds are left: %v, %v", seed, c.holders, c.declared)
		}
	}
	if waited < 500 {
		t.Errorf("a task waited %d times: this proves little", waited)
	}
}

// BenchmarkSchedule completes ten thousand tasks, two at a time.
func BenchmarkSchedule(b *testing.B) {
	for name, files := range map[string]func(i int) []string{
		"no files": func(int) []string { return nil }, "own files": func(i int) []string { return []string{fmt.Sprintf("src/f%d.go", i), fmt.Sprintf("src/f%d_test.go", i)} },
		"one file": func(int) []string { return []string{"go.mod"} }, "one file and own": func(i int) []string { return []string{fmt.Sprintf("src/f%d.go", i), "go.mod"} },
		"globs": func(i int) []string { // all different, and each overlaps each
			return []string{fmt.Sprintf([]string{"src/*f%d*.go", "src/**/f%d_*.go", "s*/**/g%d"}[i%3], i)}
		},
	} {
		e := &epic.Epic{}
		for i := range 10_000 {
			e.Tasks = append(e.Tasks, epic.Task{ID: fmt.Sprintf("T%d", i), Files: files(i)})
		}
		g, err := epic.NewGraph(e)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := New(e, g, &attempts.Ledger{}, nil)
				var running []int
				for done := 0; done < 10_000; {
					if i := startNext(s, func(int) bool { return true }); i >= 0 {
						running = append(running, i)
						if len(running) < 2 {
							continue
						}
					}
					s.Complete(running[0])
					running, done = running[1:], done+1
				}
			}
		})
	}
}

package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/schedule/scheduletest"
)

// A task that waits for a claim is not in the queue, and comes back when it can start: a schedule with claims returns
// the same tasks as one without that is asked only for tasks that share no file with running ones.
func TestClaimsHideNothing(t *testing.T) {
	t.Parallel()
	held := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 4))
		e, _ := scheduletest.Layered(t, r, false, true)
		share := scheduletest.Share
		for i := range e.Tasks {
			switch {
			case seed%2 == 0: // few words, and many who use them
				k := r.IntN(4)
				e.Tasks[i].Files = []string{"a/1", "b/1", "c/1", "e", "a/1"}[k : k+1+r.IntN(2)]
			case seed%4 == 1: // globs of the same groups, and paths that belong to some of a group's
				share = overlap
				names := []string{"s/*a*.go", "s/*b*.go", "s/*c*.go", "s/a.go", "s/b.go", "s/**/x", "s/**/y", "t/**/x", "*/**/z", "t/*a", "t/*b*a", "t/ba", "[st]/c"}
				e.Tasks[i].Files = nil
				for range r.IntN(3) {
					e.Tasks[i].Files = append(e.Tasks[i].Files, names[r.IntN(len(names))])
				}
			}
		}
		g, err := epic.NewGraph(e)
		if err != nil {
			t.Fatal(err)
		}
		s, plain := New(e, g, &attempts.Ledger{}, nil).WithFileClaims(true), New(e, g, &attempts.Ledger{}, nil)
		var running []int
		for range 6 * g.Len() {
			if out := r.Uint64() | r.Uint64(); r.IntN(3) > 0 {
				fits := func(i int) bool { return out>>(i%64)&1 == 1 }
				got := startNext(s, fits)
				want := startNext(plain, func(i int) bool {
					apart := !slices.ContainsFunc(running, func(k int) bool { return share(e.Tasks[k].Files, e.Tasks[i].Files) })
					if !apart {
						held++
					}
					return apart && fits(i)
				})
				if got != want {
					t.Fatalf("seed %d: got %d, want %d while %v run", seed, got, want, running)
				}
				if got >= 0 {
					running = append(running, got)
				}
			}
			if len(running) > 0 && r.IntN(3) == 0 {
				k := r.IntN(len(running))
				end := []func(*Schedule, int){(*Schedule).Complete, (*Schedule).Complete, (*Schedule).Requeue, (*Schedule).Gate}[r.IntN(4)]
				end(s, running[k])
				end(plain, running[k])
				running = slices.Delete(running, k, k+1)
			}
		}
	}
	if held < 20_000 {
		t.Errorf("only %d times something was held: this proves little", held)
	}
}

// overlap compares declarations as a schedule does.
func overlap(a, b []string) bool { return globs.NewFileClaims(a).Overlaps(globs.NewFileClaims(b)) }

// Share agrees with the comparison of claims.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	for _, a := range scheduletest.Declarations {
		for _, b := range scheduletest.Declarations {
			if got, want := overlap([]string{a}, []string{b}), scheduletest.Share([]string{a}, []string{b}); got != want {
				t.Errorf("%s and %s: got %v, want %v", a, b, got, want)
			}
		}
	}
}

// Files that conflicted in an earlier run are claimed in the next one, and in its forecast.
func TestContestedFilesAreClaimed(t *testing.T) {
	t.Parallel()
	e := &epic.Epic{}
	l := &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{}}
	for _, id := range []string{"T1", "T2", "T3"} {
		e.Tasks = append(e.Tasks, epic.Task{ID: id})
		rec := &attempts.TaskRecord{Attempts: []attempts.Attempt{{ID: 1, Outcome: attempts.Conflict, Receipt: attempts.Receipt{Contested: []string{"CHANGELOG"}}}}}
		if l.Tasks[id] = rec; id == "T2" {
			rec.Attempts[0].Receipt.Contested = []string{"go.mod"}
		}
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	s := New(e, g, l, nil).WithFileClaims(true)
	anybody := func(int) bool { return true }
	if got := []int{startNext(s, anybody), startNext(s, anybody), startNext(s, anybody)}; !slices.Equal(got, []int{0, 1, -1}) {
		t.Errorf("got %v, want T1 and T2 at once and then nobody", got)
	}
	s.Complete(0)
	if got := startNext(s, anybody); got != 2 {
		t.Errorf("got %d, want T3", got)
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
				s := New(e, g, &attempts.Ledger{}, nil).WithFileClaims(true)
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

package orchestrator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
)

// What is waiting for a lease is out of sight, and comes back when it can start: a schedule with leases gives what one
// without gives that is asked for the tasks that share no file with those that run.
func TestLeasesHideNothing(t *testing.T) {
	t.Parallel()
	held := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 4))
		l := newLayered(t, r, false, true)
		for i := range l.e.Tasks {
			if seed%2 == 0 { // few words, and many who use them
				k := r.IntN(4)
				l.e.Tasks[i].Files = []string{"a/1", "b/1", "c/1", "e", "a/1"}[k : k+1+r.IntN(2)]
			}
		}
		g, err := epic.NewGraph(l.e)
		if err != nil {
			t.Fatal(err)
		}
		s, plain := newSchedule(l.e, g, &attempts.Ledger{}, nil).leased(true), newSchedule(l.e, g, &attempts.Ledger{}, nil)
		var running []int
		for range 6 * g.Len() {
			if out := r.Uint64() | r.Uint64(); r.IntN(3) > 0 {
				fits := func(i int) bool { return out>>(i%64)&1 == 1 }
				got := s.next(fits)
				want := plain.next(func(i int) bool {
					apart := !slices.ContainsFunc(running, func(k int) bool { return share(l.e.Tasks[k].Files, l.e.Tasks[i].Files) })
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
				end := []func(*schedule, int){(*schedule).completed, (*schedule).completed, (*schedule).again, (*schedule).gated}[r.IntN(4)]
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

// Tasks that declare a file in common never run at once, whatever becomes of their attempts and however long landing
// takes; and none is forgotten.
func TestLeases(t *testing.T) {
	t.Parallel()
	most := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		l := newLayered(t, r, false, true)
		script := map[string][]step{}
		for _, task := range l.e.Tasks {
			for r.IntN(2) == 0 {
				script[task.ID] = append(script[task.ID], step{
					takes: duration(r, 1), why: fmt.Sprintf("error %c", 'a'+rune(r.IntN(3))),
					outcome: []attempts.Outcome{attempts.Agent, attempts.Provider, attempts.Conflict, attempts.Check}[r.IntN(4)],
				})
			}
		}
		_, watch := l.sleep(t, 1+r.IntN(8), time.Duration(r.IntN(3)-1)*time.Minute, script)
		for _, fault := range watch.faults {
			t.Errorf("seed %d: %s", seed, fault)
		}
		most = max(most, watch.most)
	}
	if most < 6 {
		t.Errorf("never more than %d at once: this proves little", most)
	}
}

// What share finds is what keeps tasks apart: else these tests would ask for something else.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	for _, a := range declarations {
		for _, b := range declarations {
			if got, want := epic.Overlap([]string{a}, []string{b}), share([]string{a}, []string{b}); got != want {
				t.Errorf("%s and %s: got %v, want %v", a, b, got, want)
			}
		}
	}
}

// BenchmarkSchedule takes ten thousand tasks through, two at a time.
func BenchmarkSchedule(b *testing.B) {
	for name, files := range map[string]func(i int) []string{
		"no files": func(int) []string { return nil }, "own files": func(i int) []string { return []string{fmt.Sprintf("src/f%d.go", i), fmt.Sprintf("src/f%d_test.go", i)} },
		"one file": func(int) []string { return []string{"go.mod"} }, "one file and own": func(i int) []string { return []string{fmt.Sprintf("src/f%d.go", i), "go.mod"} },
		"globs": func(i int) []string { return []string{fmt.Sprintf("src/*%d.go", i%100)} },
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
				s := newSchedule(e, g, &attempts.Ledger{}, nil).leased(true)
				var running []int
				for done := 0; done < 10_000; {
					if i := s.next(func(int) bool { return true }); i >= 0 {
						running = append(running, i)
						if len(running) < 2 {
							continue
						}
					}
					s.completed(running[0])
					running, done = running[1:], done+1
				}
			}
		})
	}
}

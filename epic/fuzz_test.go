package epic

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// FuzzRead holds what is true of any input: no panic, problems have a place, cutting the file makes no difference, and
// what was read can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	for _, shape := range []string{"flat", "chain", "layers"} {
		f.Add(generate(5, shape))
	}
	files, err := filepath.Glob("testdata/*.yml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	for _, m := range mistakes {
		if len(m.src) < 4096 { // the fuzzer spends its time on copying larger ones
			f.Add([]byte(m.src))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := Read("epic.yml", src)
		if err != nil {
			checkProblems(t, err)
			return
		}
		checkGraph(t, e)
		again(t, e)
	})
}

func checkProblems(t *testing.T, err error) {
	t.Helper()
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("error is %T, want Problems", err)
	}
	for _, p := range problems {
		if p.File != "epic.yml" || p.Line < 1 || p.Column < 1 || p.Message == "" {
			t.Errorf("problem without a place: %+v", p)
		}
	}
}

// again writes an epic and reads it back.
func again(t *testing.T, e *Epic) {
	t.Helper()
	text, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Read("again.yml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got, want := withoutLines(back), withoutLines(e); !reflect.DeepEqual(got, want) {
		t.Errorf("read back:\n%+v\nwant:\n%+v\nfrom:\n%s", got, want, text)
	}
	if second, err := back.Encode(); err != nil || !slices.Equal(second, text) {
		t.Errorf("encoded again (%v):\n%s\nwant:\n%s", err, second, text)
	}
}

func withoutLines(e *Epic) *Epic {
	bare := *e
	bare.Tasks = slices.Clone(e.Tasks)
	for i := range bare.Tasks {
		bare.Tasks[i].Line = 0
	}
	return &bare
}

// checkGraph compares the graph with what its definition says.
func checkGraph(t *testing.T, e *Epic) {
	t.Helper()
	g, err := NewGraph(e)
	if err != nil {
		t.Fatalf("a valid epic has no graph: %v", err)
	}
	done, edges := make([]bool, g.Len()), 0
	for _, i := range g.Order() {
		edges += len(g.Deps(i))
		for _, d := range g.Deps(i) {
			if !done[d] {
				t.Errorf("%s comes before %s", g.ID(i), g.ID(d))
			}
			if !slices.Contains(g.rev[d], i) {
				t.Errorf("%s is no dependant of %s", g.ID(i), g.ID(d))
			}
		}
		done[i] = true
	}
	if g.Edges() != edges {
		t.Errorf("%d edges, want %d", g.Edges(), edges)
	}
	if len(g.Order()) != g.Len() {
		t.Errorf("%d of %d tasks in order", len(g.Order()), g.Len())
	}
	for i := range g.Len() {
		heaviest := 0.0
		for _, d := range g.rev[i] {
			heaviest = max(heaviest, g.Weight(d))
			if g.level[d] <= g.level[i] {
				t.Errorf("level of %s is %d, of its dependant %s %d", g.ID(i), g.level[i], g.ID(d), g.level[d])
			}
		}
		if want := heaviest + e.Tasks[i].Weight(); g.Weight(i) != want {
			t.Errorf("weight of %s is %v, want %v", g.ID(i), g.Weight(i), want)
		}
	}
}

package epic

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func TestGraph(t *testing.T) {
	t.Parallel()
	_, g := loadTest(t, "testdata/full.yml")
	names := func(tasks []int) string {
		ids := make([]string, len(tasks))
		for k, i := range tasks {
			ids[k] = g.ID(i)
		}
		return strings.Join(ids, " ")
	}
	if got, want := names(g.Order()), "T1 T2 T4 T5 T3"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if got, want := names(g.CriticalPath()), "T1 T4 T5 T3"; got != want {
		t.Errorf("critical path %s, want %s", got, want)
	}
	for _, test := range []struct {
		id, deps, dependants string
		weight               float64
	}{
		{"T1", "", "T3 T4 T5", 6.5},
		{"T2", "", "T4 T5", 5.5},
		{"T3", "T1 T5", "", 0.5},
		{"T4", "T1 T2", "T5", 4.5}, // the empty group Later hands on what it waits for
		{"T5", "T4 T1 T2", "T3", 1.5},
	} {
		i, ok := g.Index(test.id)
		if !ok {
			t.Fatalf("no task %s", test.id)
		}
		if got := names(g.Deps(i)); got != test.deps {
			t.Errorf("%s waits for %q, want %q", test.id, got, test.deps)
		}
		if got := names(g.rev[i]); got != test.dependants {
			t.Errorf("for %s wait %q, want %q", test.id, got, test.dependants)
		}
		if got := g.Weight(i); got != test.weight {
			t.Errorf("weight of %s is %v, want %v", test.id, got, test.weight)
		}
	}
	if _, ok := g.Index("T9"); ok {
		t.Error("found a task that is not there")
	}
}

// TestOrderTies checks that of the tasks that could come next the first in the file does.
// TestNewGraphOnlyReads shows that graphs of one epic can be built while others read it: the race detector sees a write.
func TestNewGraphOnlyReads(t *testing.T) {
	t.Parallel()
	e := &Epic{Version: 2, ID: "shared", Tasks: []Task{{ID: "T1"}, {ID: "T2", DependsOn: []string{strings.Clone("T1")}}}}
	own := unsafe.StringData(e.Tasks[1].DependsOn[0])
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := NewGraph(e); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if unsafe.StringData(e.Tasks[1].DependsOn[0]) != own {
		t.Error("the epic has been written to")
	}
}

func TestOrderTies(t *testing.T) {
	t.Parallel()
	e := &Epic{Tasks: []Task{
		{ID: "c", DependsOn: []string{"e"}}, {ID: "a"}, {ID: "e"}, {ID: "b", DependsOn: []string{"a"}}, {ID: "d"},
	}}
	g, err := NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := g.Order(), []int{1, 2, 0, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestNewGraphRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tasks []Task
		want  string
	}{
		{[]Task{{ID: "a", Line: 3}, {ID: "a", Line: 5}}, `x:5:1: task "a" is defined twice, first on line 3`},
		{[]Task{{ID: "a", Line: 3, DependsOn: []string{"b"}}}, "x:3:1: task a depends on b, which does not exist"},
		{[]Task{{ID: "a", Line: 3, DependsOn: []string{"b"}}, {ID: "b", DependsOn: []string{"a"}}}, "x:3:1: dependency cycle: a -> b -> a"},
	} {
		_, err := NewGraph(&Epic{ID: "x", Tasks: test.tasks})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// TestEncodeTexts writes what YAML finds hard.
func TestEncodeTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"plain", "true", "~", "404", "1e3", "0x1f", "2026-01-11", "<<", "- a", "a: b", "a #b", "*a", "&a", "!a", "%a", "@a", "`a`", "'", "\"", "\\n",
		" lead", "trail ", "a\nb", "a\nb\n", "a\nb\n\n", "\na", " a\nb", "a \nb", "a\n b\n  c", "\t", "a\tb", "a\n\tb", "a\r\nb", "\x1b[31m",
		"\u0085", "\u2028", "\ufeff", "\ufffd", "é", "日本", "🎉", "a\u202eb", strings.Repeat("long ", 100), "# a", "key:", "? a", "---", "...", "\n", "|", ">",
	} {
		e := &Epic{Version: 2, ID: "20260111-x", Title: "x", Tasks: []Task{{
			ID: "T1", Title: "x", Kind: KindFeature, Priority: 2, Description: text, Runner: text,
		}}}
		again(t, e)
	}
}

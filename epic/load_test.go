package epic

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestManyProblems(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString(head)
	for i := range maxProblems + 500 {
		fmt.Fprintf(&src, "  T%d: {title: a, depends_on: [Nope]}\n", i)
	}
	_, err := Read("epic.yml", []byte(src.String()))
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != maxProblems+1 {
		t.Fatalf("%d problems, want %d", len(problems), maxProblems+1)
	}
	if got, want := problems[maxProblems].Message, "and 500 more problems"; got != want {
		t.Errorf("last: %q, want %q", got, want)
	}
}

// TestHuge reads what is far beyond any real epic: nothing may recurse on the length of a chain.
func TestHuge(t *testing.T) {
	t.Parallel()
	for shape := range shapes {
		e, err := Read("epic.yml", generate(20_000, shape))
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGraph(e)
		if err != nil {
			t.Fatal(err)
		}
		if shape == "chain" && len(g.CriticalPath()) != g.Len() {
			t.Errorf("critical path of a chain has %d of %d tasks", len(g.CriticalPath()), g.Len())
		}
	}
	ring := strings.Replace(string(generate(20_000, "chain")), "depends_on: []", "depends_on: [T19999]", 1)
	_, err := Read("epic.yml", []byte(ring))
	if err == nil || !strings.Contains(err.Error(), "dependency cycle: T0 -> T19999 -> T19998 -> ") || !strings.Contains(err.Error(), " -> T1 -> T0 (") {
		t.Errorf("ring: %.100v", err)
	}
}

// grouped is an epic of groups, each of the same size.
func grouped(groups, size int, blockedBy func(k int) []int) *Epic {
	e := &Epic{}
	for k := range groups {
		g := Group{Name: fmt.Sprint(k)}
		for i := range size {
			id := fmt.Sprintf("T%d-%d", k, i)
			e.Tasks = append(e.Tasks, Task{ID: id})
			g.Tasks = append(g.Tasks, id)
		}
		for _, b := range blockedBy(k) {
			g.BlockedBy = append(g.BlockedBy, fmt.Sprint(b))
		}
		e.Groups = append(e.Groups, g)
	}
	return e
}

// TestGroups checks that the tasks of a group wait for all tasks of the one that blocks it.
func TestGroups(t *testing.T) {
	t.Parallel()
	const size = 1000
	e := grouped(2, size, func(k int) []int { return slices.Repeat([]int{0}, k) })
	g, err := NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{size, 2*size - 1} {
		if deps := g.Deps(i); len(deps) != size || deps[0] != 0 || deps[size-1] != size-1 {
			t.Errorf("task %d waits for %d tasks, want %d", i, len(deps), size)
		}
		if g.level[i] != 1 {
			t.Errorf("level %d, want 1", g.level[i])
		}
	}
	if got := g.Edges(); got != size*size {
		t.Errorf("%d edges, want %d", got, size*size)
	}
}

func TestGroupsImplyTooMuch(t *testing.T) {
	t.Parallel()
	all := make([]int, 600)
	for k := range all {
		all[k] = k
	}
	_, err := NewGraph(grouped(len(all), 60, func(k int) []int { return all[:k] }))
	const want = "the groups imply more than 5000000 dependencies (name only the nearest groups in blocked_by)"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %.200v, want %s", err, want)
	}
}

// Tasks of a group share what it implies. Of the nodes and places of a task, only the places of depends_on are kept.
func TestKeepsLittle(t *testing.T) {
	t.Parallel()
	g, err := NewGraph(grouped(2, 3, func(k int) []int { return []int{0}[:k] }))
	if err != nil || &g.Deps(3)[0] != &g.Deps(4)[0] || &g.Dependants(0)[0] != &g.Dependants(1)[0] {
		t.Errorf("dependencies are copied for each task: %v", err)
	}
	n, err := Document("e", []byte("T1: {title: a}\nT2: {title: b, depends_on: [T1]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := reader{problems: &problemList{}, epic: &Epic{}, task: *newPlaces(Place{})}
	r.check = validator{problems: r.problems, epic: r.epic, at: r.where}
	r.tasks(n)
	if at := r.taskAt[1]; n.Content[3] != nil || at.keys != nil || at.values != nil || len(at.deps) != 2 {
		t.Errorf("kept: %v, %+v", n.Content[3], at)
	}
}

package epic

import (
	"iter"
	"slices"
)

// Graph is the order that an epic's tasks have to keep. Tasks are numbered by their place in the file.
// A Graph does not change and may be read by many goroutines.
type Graph struct {
	ids   []string
	index map[string]int
	deps  lists // as written, without repeats and without what a group implies
	rev   lists // the same turned round

	groupOf []int32 // -1 for a task in no group; nil when there are no groups
	groups  []groupNode

	order  []int
	weight []float64
	next   []int32 // the heaviest dependant, over groups; -1 at an end
	level  []int32
}

// groupNode is a group as the graph sees it. Between two groups of n tasks there are n² dependencies, so they are
// not stored: every task of a group shares the same slices.
type groupNode struct {
	tasks      []int
	blockedBy  []int // groups
	blocks     []int // groups
	after      []int // groups with tasks that this one waits for, sorted
	deps       []int // tasks that every task here waits for
	dependants []int // tasks that wait for every task here
}

// lists is many small slices in one.
type lists struct {
	start []int32 // len = number of slices + 1
	items []int
}

func (l lists) at(i int) []int {
	return l.items[l.start[i]:l.start[i+1]:l.start[i+1]]
}

// NewGraph builds the graph of an epic, which it only reads. The error is Problems when the epic names what it does not have,
// or goes in circles.
func NewGraph(e *Epic) (*Graph, error) {
	v := &validator{epic: e, at: func(r Ref) Place {
		if r.Part == TaskPart {
			return Place{e.Tasks[r.N].Line, 1}
		}
		return Place{}
	}}
	v.file = e.ID
	g := buildGraph(v)
	if err := v.err(); err != nil {
		return nil, err
	}
	return g, nil
}

// Len returns the number of tasks.
func (g *Graph) Len() int { return len(g.ids) }

// Index finds a task by its id.
func (g *Graph) Index(id string) (int, bool) {
	i, ok := g.index[id]
	return i, ok
}

// ID returns the id of task i.
func (g *Graph) ID(i int) string { return g.ids[i] }

// Deps returns the tasks that i waits for: those it names, in their order, then those its group implies, in file order.
// The caller must not change the slice.
func (g *Graph) Deps(i int) []int {
	if gi := g.group(i); gi >= 0 {
		return joined(g.deps.at(i), g.groups[gi].deps)
	}
	return g.deps.at(i)
}

// Dependants returns the tasks that wait for i: those that name it, then those whose group does, each in file order.
// The caller must not change the slice.
func (g *Graph) Dependants(i int) []int {
	if gi := g.group(i); gi >= 0 {
		return joined(g.rev.at(i), g.groups[gi].dependants)
	}
	return g.rev.at(i)
}

// Order returns every task after all it depends on, ties by file order. The caller must not change it.
func (g *Graph) Order() []int { return g.order }

// Weight returns the points on the heaviest path from task i to an end, its own included. A task without points weighs
// 1.
func (g *Graph) Weight(i int) float64 { return g.weight[i] }

// Level is 0 for a task without dependencies, else one more than the highest level it depends on.
func (g *Graph) Level(i int) int { return int(g.level[i]) }

// CriticalPath returns the heaviest path through the epic, first task first.
func (g *Graph) CriticalPath() []int {
	first := -1
	for i := range g.ids {
		if first < 0 || g.weight[i] > g.weight[first] {
			first = i
		}
	}
	var path []int
	for i := first; i >= 0; i = int(g.next[i]) {
		if i < len(g.ids) {
			path = append(path, i)
		}
	}
	return path
}

func (g *Graph) group(i int) int {
	if g.groupOf == nil {
		return -1
	}
	return int(g.groupOf[i])
}

func joined(a, b []int) []int {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	return slices.Concat(a, b)
}

// To order the tasks, every group is two nodes beside them: its start, which waits for the groups that block it and
// which its tasks wait for, and its end, which waits for its tasks. Node numbers: tasks, then starts, then ends.

func (g *Graph) nodes() int           { return len(g.ids) + 2*len(g.groups) }
func (g *Graph) startNode(gi int) int { return len(g.ids) + gi }
func (g *Graph) endNode(gi int) int   { return len(g.ids) + len(g.groups) + gi }

// after yields the nodes that wait for node n.
func (g *Graph) after(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		tasks, groups := len(g.ids), len(g.groups)
		switch {
		case n < tasks:
			for _, m := range g.rev.at(n) {
				if !yield(m) {
					return
				}
			}
			if gi := g.group(n); gi >= 0 {
				yield(g.endNode(gi))
			}
		case n < tasks+groups:
			group := &g.groups[n-tasks]
			for _, m := range group.tasks {
				if !yield(m) {
					return
				}
			}
			if len(group.tasks) == 0 { // an empty group hands on what it waits for
				yield(g.endNode(n - tasks))
			}
		default:
			for _, m := range g.groups[n-tasks-groups].blocks {
				if !yield(g.startNode(m)) {
					return
				}
			}
		}
	}
}

// waits returns the number of nodes that node n waits for.
func (g *Graph) waits(n int) int {
	tasks, groups := len(g.ids), len(g.groups)
	switch {
	case n < tasks:
		if g.group(n) >= 0 {
			return len(g.deps.at(n)) + 1
		}
		return len(g.deps.at(n))
	case n < tasks+groups:
		return len(g.groups[n-tasks].blockedBy)
	default:
		return max(1, len(g.groups[n-tasks-groups].tasks))
	}
}

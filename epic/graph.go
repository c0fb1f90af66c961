package epic

import (
	"slices"
)

// Graph is the order that an epic's tasks have to keep. Tasks are numbered by their place in the file.
// A Graph does not change and may be read by many goroutines.
type Graph struct {
	ids    []string
	index  map[string]int
	named  [][]int // of each task: those it names, without repeats and without what its group implies
	deps   [][]int // of each task: named, and what its group implies
	rev    [][]int // deps turned round
	groups []groupNode

	order  []int
	weight []float64
	next   []int // the heaviest dependant; -1 at an end
	level  []int // 0 for a task without dependencies, else one more than the highest level it depends on
}

// groupNode is a group as the graph sees it.
type groupNode struct {
	tasks     []int
	blockedBy []int // groups
	after     []int // groups with tasks that this one waits for, sorted
}

// NewGraph builds the graph of an epic, which it only reads. The error is Problems when the epic names what it does not have,
// or goes in circles.
func NewGraph(e *Epic) (*Graph, error) {
	v := &validator{problems: &problemList{file: e.ID}, epic: e, at: func(r Ref) Place {
		if r.Part == TaskPart {
			return Place{e.Tasks[r.N].Line, 1}
		}
		return Place{}
	}}
	g := buildGraph(v)
	if err := v.problems.err(); err != nil {
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
func (g *Graph) Deps(i int) []int { return g.deps[i] }

// Dependants returns the tasks that wait for i, in file order. The caller must not change the slice.
func (g *Graph) Dependants(i int) []int { return g.rev[i] }

// Order returns every task after all it depends on, ties by file order. The caller must not change it.
func (g *Graph) Order() []int { return g.order }

// Weight returns the points on the heaviest path from task i to an end, its own included. A task without points weighs
// 1.
func (g *Graph) Weight(i int) float64 { return g.weight[i] }

// CriticalPath returns the heaviest path through the epic by the points of its tasks, first task first.
func (g *Graph) CriticalPath() []int { return path(g.weight, g.next) }

// Heaviest returns the heaviest path through the epic by what each task weighs, first task first.
func (g *Graph) Heaviest(weighs func(i int) float64) []int { return path(g.paths(weighs)) }

// path returns the heaviest path of those that begin with each task.
func path(weight []float64, next []int) (list []int) {
	first := -1
	for i := range weight {
		if first < 0 || weight[i] > weight[first] {
			first = i
		}
	}
	for i := first; i >= 0; i = next[i] {
		list = append(list, i)
	}
	return list
}

// paths returns the weight of the heaviest path that begins with each task, and the task that is next on it, or -1.
func (g *Graph) paths(weighs func(i int) float64) (weight []float64, next []int) {
	weight, next = make([]float64, len(g.ids)), make([]int, len(g.ids))
	for _, i := range slices.Backward(g.order) {
		next[i] = -1
		for _, m := range g.rev[i] {
			if weight[m] > weight[i] {
				weight[i], next[i] = weight[m], m
			}
		}
		weight[i] += weighs(i)
	}
	return weight, next
}

// Edges returns the number of dependencies, those that groups imply included: to go through all Deps takes as many steps.
func (g *Graph) Edges() (n int) {
	for _, deps := range g.deps {
		n += len(deps)
	}
	return n
}

// arrange fills order, level, weight and next. It reports false when tasks wait for each other.
func (g *Graph) arrange(e *Epic) bool {
	g.rev = reversed(g.named)
	g.followers()
	g.order = topological(g.deps, g.rev)
	if len(g.order) < len(g.ids) {
		return false
	}
	g.level = make([]int, len(g.ids))
	for _, i := range g.order {
		for _, d := range g.deps[i] {
			g.level[i] = max(g.level[i], g.level[d]+1)
		}
	}
	g.weight, g.next = g.paths(func(i int) float64 { return e.Tasks[i].Weight() })
	return true
}

// followers adds to the dependants of a group's tasks those that groups imply.
func (g *Graph) followers() {
	waiting := make([][]int, len(g.groups))
	for k := range g.groups {
		for _, b := range g.groups[k].after {
			waiting[b] = append(waiting[b], g.groups[k].tasks...)
		}
	}
	for b := range g.groups {
		slices.Sort(waiting[b])
		for _, i := range g.groups[b].tasks {
			if g.rev[i] = joined(g.rev[i], waiting[b]); len(g.rev[i]) > len(waiting[b]) {
				slices.Sort(g.rev[i])
			}
		}
	}
}

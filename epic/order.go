package epic

import (
	"container/heap"
	"slices"
	"sort"
)

// arrange fills order, level, weight and next. It reports whether every task found its place; if not, there is a cycle.
func (g *Graph) arrange(e *Epic) bool {
	all := g.sorted()
	if len(all) < g.nodes() {
		return false
	}
	tasks := len(g.ids)
	g.order = make([]int, 0, tasks)
	g.level = make([]int32, g.nodes())
	for _, n := range all {
		step := int32(0)
		if n < tasks {
			g.order = append(g.order, n)
			step = 1
		}
		for m := range g.after(n) {
			g.level[m] = max(g.level[m], g.level[n]+step)
		}
	}
	g.weight = make([]float64, g.nodes())
	g.next = make([]int32, g.nodes())
	for _, n := range slices.Backward(all) {

		g.next[n] = -1
		heaviest := 0.0
		for m := range g.after(n) {
			if g.weight[m] > heaviest {
				heaviest, g.next[n] = g.weight[m], int32(m)
			}
		}
		g.weight[n] = heaviest
		if n < tasks {
			g.weight[n] += points(&e.Tasks[n])
		}
	}
	return true
}

// Edges returns the number of dependencies, those that groups imply included: to go through all Deps takes as many steps.
func (g *Graph) Edges() int {
	n := len(g.deps.items)
	for k := range g.groups {
		n += len(g.groups[k].tasks) * len(g.groups[k].deps)
	}
	return n
}

// points returns a task's weight in the critical path.
func points(t *Task) float64 {
	if t.Points == 0 {
		return 1
	}
	return t.Points
}

// sorted lists the nodes that are not part of a cycle, nor behind one, in topological order. Of the tasks that could come
// next the first in the file does.
func (g *Graph) sorted() []int {
	waits := make([]int32, g.nodes())
	var ready intHeap
	var open []int // starts and ends of groups stand for no work: they go first, so that they hold no task back
	for n := range waits {
		waits[n] = int32(g.waits(n))
		if waits[n] > 0 {
			continue
		}
		if n < len(g.ids) {
			ready.IntSlice = append(ready.IntSlice, n) // ascending, so already a heap
		} else {
			open = append(open, n)
		}
	}
	all := make([]int, 0, g.nodes())
	for ready.Len()+len(open) > 0 {
		var n int
		if len(open) > 0 {
			n, open = open[len(open)-1], open[:len(open)-1]
		} else {
			n = heap.Pop(&ready).(int)
		}
		all = append(all, n)
		for m := range g.after(n) {
			if waits[m]--; waits[m] > 0 {
				continue
			}
			if m < len(g.ids) {
				heap.Push(&ready, m)
			} else {
				open = append(open, m)
			}
		}
	}
	return all
}

// intHeap is a heap of ints, the smallest first.
type intHeap struct{ sort.IntSlice }

// Push implements [heap.Interface].
func (h *intHeap) Push(v any) { h.IntSlice = append(h.IntSlice, v.(int)) }

// Pop implements [heap.Interface].
func (h *intHeap) Pop() any {
	last := h.Len() - 1
	v := h.IntSlice[last]
	h.IntSlice = h.IntSlice[:last]
	return v
}

package epic

import "slices"

// arrange fills order, level, weight and next. It reports false when tasks wait for each other.
func (g *Graph) arrange(e *Epic) bool {
	g.rev = reversed(g.named)
	g.followers()
	g.order = topological(g.deps, g.rev)
	if len(g.order) < len(g.ids) {
		return false
	}
	g.level, g.next, g.weight = make([]int, len(g.ids)), make([]int, len(g.ids)), make([]float64, len(g.ids))
	for _, i := range g.order {
		for _, d := range g.deps[i] {
			g.level[i] = max(g.level[i], g.level[d]+1)
		}
	}
	for _, i := range slices.Backward(g.order) {
		g.next[i] = -1
		for _, m := range g.rev[i] {
			if g.weight[m] > g.weight[i] {
				g.weight[i], g.next[i] = g.weight[m], m
			}
		}
		g.weight[i] += points(&e.Tasks[i])
	}
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

// points returns a task's weight in the critical path.
func points(t *Task) float64 {
	if t.Points == 0 {
		return 1
	}
	return t.Points
}

// reversed turns the edges of a graph round.
func reversed(edges [][]int) [][]int {
	back := make([][]int, len(edges))
	for n, list := range edges {
		for _, m := range list {
			back[m] = append(back[m], n)
		}
	}
	return back
}

// topological lists nodes after those they wait for, the lowest of several first. Nodes in a cycle or behind one are missing.
func topological(waitsFor, dependants [][]int) []int {
	waits := make([]int, len(waitsFor))
	var ready []int // sorted
	for n, list := range waitsFor {
		if waits[n] = len(list); waits[n] == 0 {
			ready = append(ready, n)
		}
	}
	all := make([]int, 0, len(waitsFor))
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		all = append(all, n)
		for _, m := range dependants[n] {
			if waits[m]--; waits[m] == 0 {
				at, _ := slices.BinarySearch(ready, m)
				ready = slices.Insert(ready, at, m)
			}
		}
	}
	return all
}

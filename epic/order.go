package epic

import "slices"

// Weight returns the size of a task: one without points is as one of one.
func (t *Task) Weight() float64 {
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

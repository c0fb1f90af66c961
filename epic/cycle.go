package epic

import (
	"fmt"
	"slices"
	"strings"
)

// cycles reports one cycle for every knot of tasks that wait for each other, as the path a -> b -> a in which each waits
// for the next.
func (v *validator) cycles(g *Graph) {
	waitsFor := make([][]int, g.nodes())
	for n := range waitsFor {
		for m := range g.after(n) {
			waitsFor[m] = append(waitsFor[m], n)
		}
	}
	for _, cycle := range shortestCycles(waitsFor) {
		v.cycle(g, cycle)
	}
}

func (v *validator) cycle(g *Graph, nodes []int) {
	var tasks []int
	hint := "take one of these dependencies out"
	for k, n := range nodes {
		if n < len(g.ids) {
			tasks = append(tasks, n)
			continue
		}
		if gi := n - len(g.ids); gi < len(g.groups) { // the start of a group, then the end of one that blocks it
			by := nodes[(k+1)%len(nodes)] - len(g.ids) - len(g.groups)
			hint = fmt.Sprintf("group %s is blocked by group %s", Quoted(v.epic.Groups[gi].Name), Quoted(v.epic.Groups[by].Name))
		}
	}
	var path strings.Builder
	for _, i := range tasks {
		path.WriteString(quotedTask(g.ids[i]) + " -> ")
	}
	path.WriteString(quotedTask(g.ids[tasks[0]]))
	v.add(v.link(g, nodes), hint, "dependency cycle: %s", path.String())
}

// link returns the place of the first step of a cycle: the entry in depends_on, or the group that implies it.
func (v *validator) link(g *Graph, nodes []int) Place {
	from, to := nodes[0], nodes[1]
	if to >= len(g.ids) {
		return v.at(Ref{GroupPart, to - len(g.ids), FieldBlockedBy, 0})
	}
	item := slices.Index(v.epic.Tasks[from].DependsOn, g.ids[to])
	return v.at(Ref{TaskPart, from, FieldDependsOn, max(item, 0)})
}

// groupCycles reports groups that wait for each other, with or without tasks in them.
func (v *validator) groupCycles(g *Graph) bool {
	waitsFor := make([][]int, len(g.groups))
	for k := range g.groups {
		waitsFor[k] = g.groups[k].blockedBy
	}
	found := shortestCycles(waitsFor)
	for _, cycle := range found {
		var path strings.Builder
		for _, k := range cycle {
			path.WriteString(plain(v.epic.Groups[k].Name) + " -> ")
		}
		path.WriteString(plain(v.epic.Groups[cycle[0]].Name))
		v.add(v.at(Ref{GroupPart, cycle[0], FieldBlockedBy, 0}), "take one of these names out of blocked_by", "groups wait for each other: %s", path.String())
	}
	return len(found) > 0
}

// shortestCycles finds the strongly connected parts of a graph and returns, for each with more than one node, a shortest
// cycle through its lowest node, which comes first. Nothing recurses: a chain may be as long as the file allows.
func shortestCycles(next [][]int) [][]int {
	part := components(next)
	seen := make(map[int]bool)
	var cycles [][]int
	size := make([]int32, len(next)+1)
	for _, p := range part {
		size[p]++
	}
	for n := range next {
		if size[part[n]] < 2 || seen[part[n]] {
			continue
		}
		seen[part[n]] = true
		cycles = append(cycles, cycleThrough(next, part, n))
	}
	return cycles
}

// cycleThrough walks breadth first from root, inside its part, until it is back.
func cycleThrough(next [][]int, part []int, root int) []int {
	from := map[int]int{}
	queue := []int{root}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, m := range next[n] {
			if m == root {
				path := []int{n}
				for n != root {
					n = from[n]
					path = append(path, n)
				}
				slices.Reverse(path)
				return path
			}
			if _, been := from[m]; !been && part[m] == part[root] {
				from[m] = n
				queue = append(queue, m)
			}
		}
	}
	return []int{root}
}

// components numbers the strongly connected parts, from 1: Kosaraju's algorithm with its own stack.
func components(next [][]int) []int {
	back := make([][]int, len(next))
	for n, list := range next {
		for _, m := range list {
			back[m] = append(back[m], n)
		}
	}
	part, parts := make([]int, len(next)), 0
	for _, root := range slices.Backward(leaving(next)) {
		if part[root] > 0 {
			continue
		}
		parts++
		part[root] = parts
		for open := []int{root}; len(open) > 0; {
			n := open[len(open)-1]
			open = open[:len(open)-1]
			for _, m := range back[n] {
				if part[m] == 0 {
					part[m] = parts
					open = append(open, m)
				}
			}
		}
	}
	return part
}

// leaving returns the nodes in the order in which a walk, depth first, leaves them.
func leaving(next [][]int) []int {
	left, seen := make([]int, 0, len(next)), make([]int, len(next)) // of each node: edges looked at, from 1; 0 before it is reached
	for root := range next {
		if seen[root] > 0 {
			continue
		}
		seen[root] = 1
		for path := []int{root}; len(path) > 0; {
			n := path[len(path)-1]
			if seen[n] > len(next[n]) {
				left, path = append(left, n), path[:len(path)-1]
				continue
			}
			m := next[n][seen[n]-1]
			if seen[n]++; seen[m] == 0 {
				seen[m] = 1
				path = append(path, m)
			}
		}
	}
	return left
}

package epic

import (
	"fmt"
	"slices"
	"strings"
)

// reportCycles reports tasks that wait for each other, as the path a -> b -> a in which each waits for the next.
func reportCycles(v *validator, g *Graph) {
	for _, cycle := range shortestCycles(g.deps) {
		hint := "take one of these dependencies out"
		for k, i := range cycle {
			if to := cycle[(k+1)%len(cycle)]; !slices.Contains(g.named[i], to) {
				hint = fmt.Sprintf("group %s is blocked by group %s", Quoted(v.epic.Groups[groupOf(g.groups, i)].Name), Quoted(v.epic.Groups[groupOf(g.groups, to)].Name))
			}
		}
		at := Ref{GroupPart, groupOf(g.groups, cycle[0]), FieldBlockedBy, 0}
		if item := slices.Index(v.epic.Tasks[cycle[0]].DependsOn, g.ids[cycle[1]]); item >= 0 {
			at = Ref{TaskPart, cycle[0], FieldDependsOn, item}
		}
		v.problems.add(v.at(at), hint, "dependency cycle: %s", around(cycle, func(i int) string { return quotedTask(g.ids[i]) }))
	}
}

// around returns the names on a cycle, back to the first.
func around(cycle []int, name func(int) string) string {
	var path strings.Builder
	for _, n := range cycle {
		path.WriteString(name(n) + " -> ")
	}
	return path.String() + name(cycle[0])
}

// groupOf returns the group of a task, or -1.
func groupOf(groups []groupNode, i int) int {
	return slices.IndexFunc(groups, func(n groupNode) bool { return slices.Contains(n.tasks, i) })
}

// reportGroupCycles reports groups that wait for each other, with or without tasks in them.
func reportGroupCycles(v *validator, waitsFor [][]int) bool {
	found := shortestCycles(waitsFor)
	for _, cycle := range found {
		path := around(cycle, func(k int) string { return plain(v.epic.Groups[k].Name) })
		v.problems.add(v.at(Ref{GroupPart, cycle[0], FieldBlockedBy, 0}), "take one of these names out of blocked_by", "groups wait for each other: %s", path)
	}
	return len(found) > 0
}

// shortestCycles returns a shortest cycle through the lowest node of each knot, and further ones for nodes of the knot
// that are not on it. The lowest node comes first. Nothing recurses: a chain may be as long as the file allows.
func shortestCycles(waitsFor [][]int) (cycles [][]int) {
	dependants := reversed(waitsFor)
	free := make([]bool, len(waitsFor)) // not in a cycle, or in one that was found
	for _, n := range slices.Concat(topological(waitsFor, dependants), topological(dependants, waitsFor)) {
		free[n] = true
	}
	for n := range waitsFor {
		if free[n] {
			continue
		}
		cycle := cycleThrough(waitsFor, free, n)
		for _, m := range cycle {
			free[m] = true
		}
		if cycle != nil {
			cycles = append(cycles, cycle)
		}
	}
	return cycles
}

// cycleThrough walks breadth first from root, past free nodes, until it is back; nil if that cannot be.
func cycleThrough(waitsFor [][]int, free []bool, root int) []int {
	from := map[int]int{}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		for _, m := range waitsFor[n] {
			if m == root {
				path := []int{n}
				for n != root {
					n = from[n]
					path = append(path, n)
				}
				slices.Reverse(path)
				return path
			}
			if _, been := from[m]; !been && !free[m] {
				from[m] = n
				queue = append(queue, m)
			}
		}
	}
	return nil
}

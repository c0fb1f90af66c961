package attempts

import (
	"cmp"
	"slices"

	"relay/epic"
)

// StatusOf returns a task's state. A task is blocked while it is pending and a dependency is not completed.
// With a nil graph no task is blocked.
func (l *Ledger) StatusOf(g *epic.Graph, id string) Status {
	rec := cmp.Or(l.Tasks[id], &TaskRecord{})
	return rec.status(g != nil && len(l.WaitsFor(g, id)) > 0)
}

// MaxCauses bounds the root causes that AllRootCauses tells of one task: the first ones must be put right first.
const MaxCauses = 3

// AllRootCauses returns the gated tasks that keep each task from running, by its index in the graph and in file order. It is empty for a
// task that waits only for work that can still be done, and the search ends at a gated task.
func AllRootCauses(l *Ledger, g *epic.Graph) [][]string {
	found := make([][]int, g.Len())
	names := make([][]string, g.Len())
	for _, i := range g.Order() {
		var causes []int
		for _, d := range g.Deps(i) {
			rec := l.Tasks[g.ID(d)]
			switch {
			case rec != nil && rec.Completed:
			case rec != nil && rec.Gate != nil:
				causes = append(causes, d)
			default:
				causes = append(causes, found[d]...)
			}
		}
		slices.Sort(causes)
		causes = slices.Compact(causes)
		found[i] = causes[:min(len(causes), MaxCauses)]
		for _, c := range found[i] {
			names[i] = append(names[i], g.ID(c))
		}
	}
	return names
}

// WaitsFor lists the dependencies of a task that are not completed.
func (l *Ledger) WaitsFor(g *epic.Graph, id string) []string {
	i, ok := g.Index(id)
	if !ok {
		return nil
	}
	var ids []string
	for _, d := range g.Deps(i) {
		if rec := l.Tasks[g.ID(d)]; rec == nil || !rec.Completed {
			ids = append(ids, g.ID(d))
		}
	}
	return ids
}

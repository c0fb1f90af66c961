package project

import (
	"relay/attempts"
)

// Downstream returns the ids of all tasks that depend on a task, directly or not, in file order.
func (p *Plan) Downstream(id string) []string {
	g := p.Graph
	start, ok := g.Index(id)
	if !ok {
		return nil
	}
	seen := make([]bool, g.Len())
	for stack := []int{start}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, d := range g.Dependants(i) {
			if !seen[d] {
				seen[d] = true
				stack = append(stack, d)
			}
		}
	}
	var ids []string
	for i, found := range seen {
		if found {
			ids = append(ids, g.ID(i))
		}
	}
	return ids
}

// Waiting returns how many tasks depend on a task, directly or not, and are not completed.
func (p *Plan) Waiting(l *attempts.Ledger, id string) int {
	n := 0
	for _, d := range p.Downstream(id) {
		if rec := l.Tasks[d]; rec == nil || !rec.Completed {
			n++
		}
	}
	return n
}

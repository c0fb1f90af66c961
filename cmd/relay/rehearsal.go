package main

import (
	"fmt"

	"relay/attempts"
	"relay/epic"
)

// rehearsal is what relay work --dry-run --json prints.
type rehearsal struct {
	Run  []rehearsed `json:"run"` // in an order that keeps every dependency
	Left []rehearsed `json:"left"`
}

// rehearsed is one task that would run, or why it would not.
type rehearsed struct {
	Task   string `json:"task"`
	Title  string `json:"title"`
	Runner string `json:"runner,omitempty"`
	Why    string `json:"why,omitempty"`
}

// rehearse says what a run would do, and does nothing.
func (o *workOptions) rehearse(p *place, pl *plan) error {
	view, err := p.view(pl)
	if err != nil {
		return err
	}
	r := rehearsal{Run: []rehearsed{}, Left: []rehearsed{}}
	wanted := upstream(pl.graph, o.tasks)
	causes := rootCauses(view.Ledger, pl.graph)
	for _, i := range pl.graph.Order() {
		t := &pl.epic.Tasks[i]
		status := view.Ledger.StatusOf(pl.graph, t.ID)
		item := rehearsed{Task: t.ID, Title: t.Title}
		switch {
		case status == attempts.Completed || wanted != nil && !wanted[i]:
			continue
		case status == attempts.Gated:
			item.Why = "gated: " + string(view.Ledger.Tasks[t.ID].Gate.Reason)
		case len(causes[i]) > 0:
			item.Why = "blocked by " + some(causes[i], maxCauses)
		}
		if item.Why != "" {
			r.Left = append(r.Left, item)
			continue
		}
		item.Runner = t.Runner
		if t.Runner == "" && len(p.config.Relay.Runners) > 0 {
			item.Runner = p.config.Relay.Runners[0]
		}
		r.Run = append(r.Run, item)
	}
	if o.json {
		return o.app.printJSON(r)
	}
	for _, item := range r.Run {
		fmt.Fprintf(o.app.out, "would run   %s (%s): %s\n", item.Task, item.Runner, line(item.Title, 60))
	}
	for _, item := range r.Left {
		fmt.Fprintf(o.app.out, "would leave %s: %s\n", item.Task, item.Why)
	}
	if len(r.Run) == 0 {
		fmt.Fprintln(o.app.out, "nothing would run")
	}
	return nil
}

// upstream marks tasks and everything they depend on; nil when no task is named.
func upstream(g *epic.Graph, ids []string) []bool {
	if len(ids) == 0 {
		return nil
	}
	seen := make([]bool, g.Len())
	var stack []int
	for _, id := range ids {
		if i, ok := g.Index(id); ok {
			stack = append(stack, i)
		}
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !seen[i] {
			seen[i] = true
			stack = append(stack, g.Deps(i)...)
		}
	}
	return seen
}

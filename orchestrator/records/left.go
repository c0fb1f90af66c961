package records

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/text"
)

// next returns the tasks that are left, in the order in which they would go, at most so many.
func (p *standing) next(most int) []string {
	l := list{}
	for _, i := range p.waiting() {
		if len(l.lines) >= most {
			l.more++
			continue
		}
		l.add("%s: %s", p.epic.Tasks[i].ID, p.epic.Tasks[i].Title)
	}
	return l.all()
}

// waiting returns the tasks that are neither completed nor gated: those that could begin now, the heaviest path first, then those that
// wait for others.
func (p *standing) waiting() []int {
	if p.graph == nil {
		return nil
	}
	var ready, blocked []int
	for _, i := range p.graph.Order() {
		record := p.record(p.graph.ID(i))
		if record.Completed || record.Gate != nil {
			continue
		}
		if slices.ContainsFunc(p.graph.Deps(i), func(d int) bool { return !p.record(p.graph.ID(d)).Completed }) {
			blocked = append(blocked, i)
			continue
		}
		ready = append(ready, i)
	}
	slices.SortStableFunc(ready, func(a, b int) int {
		heavier := cmp.Compare(p.graph.Weight(b), p.graph.Weight(a))
		return cmp.Or(heavier, cmp.Compare(p.epic.Tasks[a].Priority, p.epic.Tasks[b].Priority), cmp.Compare(a, b))
	})
	return append(ready, blocked...)
}

func (p *standing) gated() []string {
	var ids []string
	if p.graph == nil {
		return nil
	}
	for i := range p.graph.Len() {
		if p.record(p.graph.ID(i)).Gate != nil {
			ids = append(ids, p.graph.ID(i))
		}
	}
	return ids
}

func (p *standing) blockers(e *attempts.Event) []string {
	l := list{}
	for _, id := range p.gated() {
		gate := p.record(id).Gate
		l.add("%s is gated: %s%s", id, gate.Reason, text.After(gate.Detail))
	}
	for i, causes := range p.causes() {
		if len(causes) > 0 && p.record(p.graph.ID(i)).Gate == nil {
			l.add("%s waits for %s", p.graph.ID(i), text.Some(causes, 5))
		}
	}
	for _, name := range sortedKeys(p.ledger.Cooldowns) {
		if c := p.ledger.Cooldowns[name]; c.Until.After(e.At) {
			l.add("%s is not asked before %s%s", name, text.Stamp(c.Until), text.After(c.Why))
		}
	}
	return l.all()
}

// causes returns the gated tasks that keep each task of the plan from running.
func (p *standing) causes() [][]string {
	if p.graph == nil {
		return nil
	}
	return attempts.AllRootCauses(p.ledger, p.graph)
}

func (p *Projector) notes() string {
	var b strings.Builder
	gated := p.now.gated()
	for _, id := range gated[:min(len(gated), mostItems)] {
		fmt.Fprintf(&b, "%s needs a person (%s): relay show %s, then relay ungate %s.\n", id, p.now.record(id).Gate.Reason, id+p.now.flag(), id+p.now.flag())
	}
	causes := p.now.causes()
	if slices.ContainsFunc(p.now.waiting(), func(i int) bool { return len(causes[i]) == 0 }) { // no gated task keeps it from running
		fmt.Fprintf(&b, "relay work%s continues with what is left.\n", p.now.flag())
	}
	if len(p.run.discovered.all()) > 0 {
		fmt.Fprintf(&b, "relay init --append%s offers what agents have found and left as tasks.\n", p.now.flag())
	}
	if completed, _ := p.now.counts(); completed > 0 && p.now.ledger.Integration.Branch != "" {
		fmt.Fprintf(&b, "relay finish%s lands what is on %s.\n", p.now.flag(), p.now.ledger.Integration.Branch)
	}
	return strings.TrimSpace(b.String())
}

// openQuestions returns the unanswered questions of agents, of tasks that are not completed.
func (p *Projector) openQuestions() []string {
	l := list{}
	for _, id := range sortedKeys(p.tasks) {
		if !p.now.record(id).Completed {
			for _, q := range p.tasks[id].questions {
				l.add("%s: %s", id, q)
			}
		}
	}
	return l.all()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func joined(l []string) string { return strings.Join(l, "; ") }

func at(branch, commit string) string {
	switch {
	case branch == "":
		return commit
	case commit == "":
		return branch
	}
	return branch + " at " + commit
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

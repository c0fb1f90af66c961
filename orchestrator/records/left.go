package records

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/report"
)

func (p *Projector) notes() string {
	var b strings.Builder
	gated := p.now.gated()
	for _, id := range gated[:min(len(gated), mostItems)] {
		if p.now.record(id).Gate.Reason == attempts.AwaitsAnswer {
			continue
		}
		fmt.Fprintf(&b, "%s needs a person (%s): relay show %s, then relay ungate %s.\n", id, p.now.record(id).Gate.Reason.Words(), id+p.now.flag(), id+p.now.flag())
	}
	asking := p.now.asking()
	for _, id := range asking[:min(len(asking), mostItems)] {
		fmt.Fprintf(&b, "The agent of %s asks a person: %s.\n", id, report.Answering(id).Type+p.now.flag())
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

// asking returns the tasks whose agents have open questions.
func (p *standing) asking() []string {
	return slices.DeleteFunc(sortedKeys(p.ledger.Tasks), func(id string) bool { return len(p.record(id).OpenQuestions()) == 0 })
}

// openQuestions returns the open questions of agents, with their tasks.
func (p *standing) openQuestions() []string {
	l := list{}
	for _, id := range p.asking() {
		for _, q := range p.record(id).OpenQuestions() {
			l.add("%s: %s", id, q)
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

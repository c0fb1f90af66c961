package records

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (p *Projector) notes() string {
	var b strings.Builder
	gated := p.now.gated()
	for _, id := range gated[:min(len(gated), mostItems)] {
		fmt.Fprintf(&b, "%s needs a person (%s): relay show %s, then relay ungate %s.\n", id, p.now.record(id).Gate.Reason.Words(), id+p.now.o.flag(), id+p.now.o.flag())
	}
	causes := p.now.causes()
	if slices.ContainsFunc(p.now.waiting(), func(i int) bool { return len(causes[i]) == 0 }) { // no gated task keeps it from running
		fmt.Fprintf(&b, "relay work%s continues with what is left.\n", p.now.o.flag())
	}
	if len(p.run.discovered.all()) > 0 {
		fmt.Fprintf(&b, "relay init --append%s offers what agents have found and left as tasks.\n", p.now.o.flag())
	}
	if completed, _ := p.now.counts(); completed > 0 && p.now.ledger.Integration.Branch != "" {
		fmt.Fprintf(&b, "relay finish%s lands what is on %s.\n", p.now.o.flag(), p.now.ledger.Integration.Branch)
	}
	return strings.TrimSpace(b.String())
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

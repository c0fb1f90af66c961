package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/text"
)

// Said is what an agent says of one kind besides its summary.
type Said struct {
	Label   string // begins each entry; "" : what is said is relay's own words
	Entries []string
}

// StatementOf lists what an agent says besides its summary, in the order in which it is shown. Entries may be empty.
func StatementOf(s *attempts.Statement) (list []Said) {
	add := func(label string, entries ...string) { list = append(list, Said{label, entries}) }
	var decided, found []string
	for _, what := range slices.Sorted(maps.Keys(s.Decisions)) {
		decided = append(decided, what+text.After(s.Decisions[what]))
	}
	for _, d := range s.Discovered {
		found = append(found, d.Title+text.After(d.Why))
	}
	add("decided: ", decided...)
	if i := s.Implementation; i != nil {
		add("built so: ", i.DesignDecisions...)
		add("breaks: ", i.BreakingChanges...)
	}
	if f := s.Bugfix; f != nil {
		add("symptom: ", f.Symptom)
		add("cause: ", f.RootCause)
		add("fix: ", f.Fix)
		add("risk: ", f.RegressionRisk)
	}
	if i := s.Inspection; i != nil {
		var findings []string
		for _, f := range i.Findings {
			findings = append(findings, strings.TrimSpace(f.Severity+" "+f.Location)+text.After(f.Issue+text.After(f.Recommendation)))
		}
		add(LookedAt, i.Scope...)
		add("finding: ", findings...)
		add("assessment: ", i.Assessment)
	}
	add("asks: ", s.Questions...)
	add("found, and left: ", found...)
	if s.Confident != nil && !*s.Confident {
		add("", "the agent is not sure of it")
	}
	return list
}

// LookedAt is the label of what an inspection has looked at.
const LookedAt = "looked at: "

// mostSaid is how many entries are shown of each list that an agent gives.
const mostSaid = 5

// said returns what an agent of a task says besides its summary, as a list.
func said(task, indent string, s *attempts.Statement) string {
	var b strings.Builder
	more := 0
	for _, one := range StatementOf(s) {
		if one.Label == LookedAt {
			continue
		}
		more += max(len(one.Entries)-mostSaid, 0)
		for _, entry := range one.Entries[:min(len(one.Entries), mostSaid)] {
			if one.Label != "" {
				entry = code(entry, columnsWide)
			}
			if entry != "" {
				fmt.Fprintf(&b, "%s- %s%s\n", indent, one.Label, entry)
			}
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "%s- and %d more: `relay show %s`\n", indent, more, task)
	}
	return b.String()
}

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/attempts"
)

// mostSaid is how many entries are shown of each list that an agent gives.
const mostSaid = 5

// said returns what an agent of a task says besides its summary, as a list.
func said(task, indent string, s *attempts.Statement) string {
	var b strings.Builder
	more := 0
	list := func(label string, entries []string) {
		more += max(len(entries)-mostSaid, 0)
		for _, entry := range entries[:min(len(entries), mostSaid)] {
			if shown := code(entry, columnsWide); shown != "" {
				fmt.Fprintf(&b, "%s- %s: %s\n", indent, label, shown)
			}
		}
	}
	var decided, found []string
	for _, what := range slices.Sorted(maps.Keys(s.Decisions)) {
		decided = append(decided, both(what, s.Decisions[what]))
	}
	for _, d := range s.Discovered {
		found = append(found, both(d.Title, d.Why))
	}
	list("decided", decided)
	if s.Implementation != nil {
		list("built so", s.Implementation.DesignDecisions)
		list("breaks", s.Implementation.BreakingChanges)
	}
	if f := s.Bugfix; f != nil {
		list("symptom", given(f.Symptom))
		list("cause", given(f.RootCause))
		list("fix", given(f.Fix))
		list("risk", given(f.RegressionRisk))
	}
	if i := s.Inspection; i != nil {
		var findings []string
		for _, f := range i.Findings {
			findings = append(findings, both(strings.TrimSpace(f.Severity+" "+f.Location), both(f.Issue, f.Recommendation)))
		}
		list("finding", findings)
		list("assessment", given(i.Assessment))
	}
	list("asks", s.Questions)
	list("found, and left", found)
	if s.Confident != nil && !*s.Confident {
		fmt.Fprintf(&b, "%s- the agent is not sure of it\n", indent)
	}
	if more > 0 {
		fmt.Fprintf(&b, "%s- and %d more: `relay show %s`\n", indent, more, task)
	}
	return b.String()
}

// both joins two texts, of which the second may be empty.
func both(what, why string) string {
	if strings.TrimSpace(why) == "" {
		return what
	}
	return what + ": " + why
}

// given returns a list of a text, unless that is empty.
func given(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

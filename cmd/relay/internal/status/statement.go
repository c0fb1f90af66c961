package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/attempts"
)

// mostSaid is how many entries are shown of each list that an agent gives.
const mostSaid = 20

// writeStatement writes what an agent says besides its summary.
func writeStatement(say func(label, shown string), s *attempts.Statement) {
	list := func(label string, entries []string) {
		for _, entry := range entries[:min(len(entries), mostSaid)] {
			say(label+": ", entry)
		}
		if more := len(entries) - mostSaid; more > 0 {
			say("", fmt.Sprintf("and %d more", more))
		}
	}
	var decided, found []string
	for _, what := range slices.Sorted(maps.Keys(s.Decisions)) {
		decided = append(decided, joined(what, s.Decisions[what]))
	}
	for _, d := range s.Discovered {
		found = append(found, joined(d.Title, d.Why))
	}
	list("decided", decided)
	if i := s.Implementation; i != nil {
		list("built so", i.DesignDecisions)
		list("breaks", i.BreakingChanges)
	}
	if f := s.Bugfix; f != nil {
		say("symptom: ", f.Symptom)
		say("cause: ", f.RootCause)
		say("fix: ", f.Fix)
		say("risk: ", f.RegressionRisk)
	}
	if i := s.Inspection; i != nil {
		list("looked at", i.Scope)
		var findings []string
		for _, f := range i.Findings {
			findings = append(findings, joined(strings.TrimSpace(f.Severity+" "+f.Location), joined(f.Issue, f.Recommendation)))
		}
		list("finding", findings)
		say("assessment: ", i.Assessment)
	}
	list("asks", s.Questions)
	list("found, and left", found)
	if s.Confident != nil && !*s.Confident {
		say("", "the agent is not sure of it")
	}
}

// joined joins two texts, of which the second may be empty.
func joined(what, why string) string {
	if strings.TrimSpace(why) == "" {
		return what
	}
	return what + ": " + why
}

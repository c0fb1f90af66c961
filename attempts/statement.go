package attempts

import (
	"maps"
	"slices"
)

// Statement is what an agent says of its work besides its summary. Nobody has verified it.
type Statement struct {
	Decisions  map[string]string `json:"decisions,omitempty" yaml:"decisions,omitempty"` // what was open, and what it decided and why
	Questions  []string          `json:"questions,omitempty" yaml:"questions,omitempty"` // for a person
	Discovered []Discovery       `json:"discovered,omitempty" yaml:"discovered,omitempty"`
	Confident  *bool             `json:"confident,omitempty" yaml:"confident,omitempty"` // nil: it did not say

	// By the kind of the task, at most one of them.
	Implementation *Implementation `json:"implementation,omitempty" yaml:"implementation,omitempty"`
	Bugfix         *Bugfix         `json:"bugfix,omitempty" yaml:"bugfix,omitempty"`
	Inspection     *Inspection     `json:"inspection,omitempty" yaml:"inspection,omitempty"`
}

// Discovery is work that an agent has found and not done.
type Discovery struct {
	Title string `json:"title" yaml:"title"`
	Why   string `json:"why,omitempty" yaml:"why,omitempty"`
}

// Implementation is what an agent says of something it has built.
type Implementation struct {
	DesignDecisions []string `json:"design_decisions,omitempty" yaml:"design_decisions,omitempty"`
	BreakingChanges []string `json:"breaking_changes,omitempty" yaml:"breaking_changes,omitempty"`
}

// Bugfix is what an agent says of a fault it has mended.
type Bugfix struct {
	Symptom        string `json:"symptom,omitempty" yaml:"symptom,omitempty"`
	RootCause      string `json:"root_cause,omitempty" yaml:"root_cause,omitempty"`
	Fix            string `json:"fix,omitempty" yaml:"fix,omitempty"`
	RegressionRisk string `json:"regression_risk,omitempty" yaml:"regression_risk,omitempty"`
}

// Inspection is what an agent says of code that it was to judge, in a task of the kind review.
type Inspection struct {
	Scope      []string            `json:"scope,omitempty" yaml:"scope,omitempty"` // files or areas
	Findings   []InspectionFinding `json:"findings,omitempty" yaml:"findings,omitempty"`
	Assessment string              `json:"assessment,omitempty" yaml:"assessment,omitempty"`
}

// InspectionFinding is one thing that was found.
type InspectionFinding struct {
	Severity       string `json:"severity" yaml:"severity"` // critical, high, medium, low or info
	Location       string `json:"location,omitempty" yaml:"location,omitempty"`
	Issue          string `json:"issue" yaml:"issue"`
	Recommendation string `json:"recommendation,omitempty" yaml:"recommendation,omitempty"`
}

// bounded returns a copy with every text passed through short or long, and no list longer than bigList.
func (s Statement) bounded() Statement {
	return s.Map(func(text string) string { return Clean(text, 500) }, func(text string) string { return Clean(text, 4<<10) })
}

// Map returns a copy with every name and list entry passed through line, and every longer text through block. Lists and maps are
// cut to 200 entries.
func (s Statement) Map(line, block func(string) string) Statement {
	out := Statement{Questions: mapped(s.Questions, line), Confident: s.Confident}
	for _, what := range slices.Sorted(maps.Keys(s.Decisions))[:min(len(s.Decisions), bigList)] {
		if out.Decisions == nil {
			out.Decisions = make(map[string]string, min(len(s.Decisions), bigList))
		}
		out.Decisions[line(what)] = block(s.Decisions[what])
	}
	for _, d := range s.Discovered[:min(len(s.Discovered), bigList)] {
		out.Discovered = append(out.Discovered, Discovery{Title: line(d.Title), Why: block(d.Why)})
	}
	if i := s.Implementation; i != nil {
		out.Implementation = &Implementation{DesignDecisions: mapped(i.DesignDecisions, line), BreakingChanges: mapped(i.BreakingChanges, line)}
	}
	if b := s.Bugfix; b != nil {
		out.Bugfix = &Bugfix{
			Symptom: block(b.Symptom), RootCause: block(b.RootCause), Fix: block(b.Fix), RegressionRisk: block(b.RegressionRisk),
		}
	}
	if i := s.Inspection; i != nil {
		out.Inspection = &Inspection{Scope: mapped(i.Scope, line), Assessment: block(i.Assessment)}
		for _, f := range i.Findings[:min(len(i.Findings), bigList)] {
			out.Inspection.Findings = append(out.Inspection.Findings, InspectionFinding{
				Severity: line(f.Severity), Location: line(f.Location), Issue: block(f.Issue), Recommendation: block(f.Recommendation),
			})
		}
	}
	return out
}

func mapped(list []string, f func(string) string) []string {
	var out []string
	for _, text := range list[:min(len(list), bigList)] {
		out = append(out, f(text))
	}
	return out
}

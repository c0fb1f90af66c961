package attempts

import (
	"maps"
	"slices"
	"strconv"

	"relay/attempts/internal/yamltext"
)

// statement writes what an agent said of its work besides its summary.
func (y ledgerWriter) statement(indent int, s *Statement) {
	if len(s.Decisions) > 0 {
		y.Line(indent, "decisions:")
	}
	for _, what := range slices.Sorted(maps.Keys(s.Decisions)) {
		y.Line(indent+2, yamltext.Scalar(what), ": ", yamltext.Scalar(s.Decisions[what]))
	}
	y.List(indent, "questions", s.Questions)
	if len(s.Discovered) > 0 {
		y.Line(indent, "discovered:")
	}
	for _, d := range s.Discovered {
		y.Line(indent+2, "- title: ", yamltext.Scalar(d.Title))
		y.Text(indent+4, "why", d.Why)
	}
	if s.Confident != nil {
		y.Line(indent, "confident: ", strconv.FormatBool(*s.Confident))
	}
	y.byKind(indent, s)
}

// byKind writes the part of a statement that belongs to the kind of its task.
func (y ledgerWriter) byKind(indent int, s *Statement) {
	if i := s.Implementation; i != nil && len(i.DesignDecisions)+len(i.BreakingChanges) > 0 {
		y.Line(indent, "implementation:")
		y.List(indent+2, "design_decisions", i.DesignDecisions)
		y.List(indent+2, "breaking_changes", i.BreakingChanges)
	}
	if b := s.Bugfix; b != nil && *b != (Bugfix{}) {
		y.Line(indent, "bugfix:")
		y.Text(indent+2, "symptom", b.Symptom)
		y.Text(indent+2, "root_cause", b.RootCause)
		y.Text(indent+2, "fix", b.Fix)
		y.Text(indent+2, "regression_risk", b.RegressionRisk)
	}
	i := s.Inspection
	if i == nil || len(i.Scope)+len(i.Findings) == 0 && i.Assessment == "" {
		return
	}
	y.Line(indent, "inspection:")
	y.List(indent+2, "scope", i.Scope)
	if len(i.Findings) > 0 {
		y.Line(indent+2, "findings:")
	}
	for _, f := range i.Findings {
		y.Line(indent+4, "- severity: ", yamltext.Scalar(f.Severity))
		y.Text(indent+6, "location", f.Location)
		y.Line(indent+6, "issue: ", yamltext.Scalar(f.Issue))
		y.Text(indent+6, "recommendation", f.Recommendation)
	}
	y.Text(indent+2, "assessment", i.Assessment)
}

// empty reports whether the agent said nothing.
func (s *Statement) empty() bool {
	return len(s.Decisions)+len(s.Questions)+len(s.Discovered) == 0 && s.Confident == nil &&
		s.Implementation == nil && s.Bugfix == nil && s.Inspection == nil
}

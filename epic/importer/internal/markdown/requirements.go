package markdown

import (
	"strings"

	"relay/epic/pattern"
)

var (
	requirementHead = pattern.New(`(?i)^(?:requirement|要件|要求|需求)\s*(\d+)`)
	numberedClause  = pattern.New(`^[ \t]*(\d+(?:\.\d+)?)[.)]?\s+(.+)$`)
)

// Requirements returns the clauses of requirements.md by their numbers, 2.3 for the third of requirement 2.
func Requirements(list []Line) map[string]string {
	found := map[string]string{}
	requirement, last := "", ""
	for _, l := range list {
		text := Unformatted(l.Rest)
		if l.Kind == Heading {
			if m := requirementHead.FindStringSubmatch(text); m != nil {
				requirement = m[1]
			}
			continue
		}
		m := numberedClause.FindStringSubmatch(l.Text)
		if m == nil || requirement == "" {
			if l.Kind == Plain && last != "" { // a clause that goes on
				found[last] += " " + Unformatted(l.Text)
			} else {
				last = ""
			}
			continue
		}
		number := m[1]
		if !strings.Contains(number, ".") {
			number = requirement + "." + number
		}
		found[number], last = Unformatted(m[2]), number
	}
	return found
}

// BeforeRequirements returns what requirements.md says before the first requirement.
func BeforeRequirements(list []Line) []Line {
	_, list = FirstHeading(list)
	for i, l := range list {
		if l.Kind == Heading && requirementHead.MatchString(Unformatted(l.Rest)) {
			return list[:i]
		}
	}
	return nil
}

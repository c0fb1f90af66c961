package collect

import (
	"cmp"
	"maps"
	"slices"

	"relay/attempts"
)

// LaterStatement returns what an agent says after another turn: what it decided and found in both turns, and the last word on all
// else.
func LaterStatement(before, now attempts.Statement) attempts.Statement {
	if decisions := maps.Clone(before.Decisions); decisions != nil {
		maps.Copy(decisions, now.Decisions)
		now.Decisions = decisions
	}
	for _, d := range slices.Backward(before.Discovered) {
		if !slices.ContainsFunc(now.Discovered, func(other attempts.Discovery) bool { return other.Title == d.Title }) {
			now.Discovered = slices.Insert(now.Discovered, 0, d)
		}
	}
	if now.Questions == nil {
		now.Questions = before.Questions
	}
	now.Confident = cmp.Or(now.Confident, before.Confident)
	if now.Implementation == nil && now.Bugfix == nil && now.Inspection == nil {
		now.Implementation, now.Bugfix, now.Inspection = before.Implementation, before.Bugfix, before.Inspection
	}
	return now
}

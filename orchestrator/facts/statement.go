// Package facts records of an attempt what runners and git tell: what the agent says of its work.
package facts

import (
	"encoding/json"
	"maps"
	"slices"

	"relay/attempts"
	"relay/runners"
)

// Statement returns what an agent says of its work besides its summary, as it goes into a receipt.
func Statement(r *runners.Result) attempts.Statement {
	s := r.Statement
	s.Decisions = maps.Clone(s.Decisions)
	return fitted(s)
}

// maxStatement bounds what one attempt's agent says besides its summary, in bytes of JSON: the ledger holds it for good.
const maxStatement = 64 << 10

// fitted cuts the lists of a statement that is too long, all to the same length.
func fitted(s attempts.Statement) attempts.Statement {
	for most := 100; most > 0; most /= 2 {
		if text, err := json.Marshal(s); err == nil && len(text) <= maxStatement {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(s.Decisions))[min(len(s.Decisions), most):] {
			delete(s.Decisions, name)
		}
		s.Questions, s.Discovered = first(s.Questions, most), first(s.Discovered, most)
		if i := s.Implementation; i != nil {
			s.Implementation = &attempts.Implementation{
				DesignDecisions: first(i.DesignDecisions, most), BreakingChanges: first(i.BreakingChanges, most),
			}
		}
		if i := s.Inspection; i != nil {
			s.Inspection = &attempts.Inspection{Scope: first(i.Scope, most), Findings: first(i.Findings, most), Assessment: i.Assessment}
		}
	}
	return s
}

func first[E any](list []E, most int) []E { return list[:min(len(list), most)] }

// Later returns what an agent says after another turn: what it decided and found in both turns, and the last word on all
// else.
func Later(before, now attempts.Statement) attempts.Statement {
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
	if now.Confident == nil {
		now.Confident = before.Confident
	}
	if now.Implementation == nil && now.Bugfix == nil && now.Inspection == nil {
		now.Implementation, now.Bugfix, now.Inspection = before.Implementation, before.Bugfix, before.Inspection
	}
	return fitted(now)
}

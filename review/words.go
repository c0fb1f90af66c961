package review

import (
	"slices"
	"strings"
)

// decisions are the spellings reviewers use, in upper case with single spaces.
var decisions = map[string]Decision{
	"APPROVED": Approved, "APPROVE": Approved,
	"NEEDS CHANGES": NeedsChanges, "NEEDS CHANGE": NeedsChanges, "NEEDS WORK": NeedsChanges,
	"CHANGES REQUESTED": NeedsChanges, "REQUEST CHANGES": NeedsChanges, "CHANGES NEEDED": NeedsChanges,
	"BLOCKED": Blocked, "BLOCK": Blocked,
}

var severities = map[string]Severity{
	"CRITICAL": Critical, "BLOCKER": Critical, "P0": Critical,
	"HIGH": High, "MAJOR": High, "P1": High,
	"MEDIUM": Medium, "MODERATE": Medium, "P2": Medium,
	"LOW": Low, "MINOR": Low, "NIT": Low, "NITPICK": Low, "TRIVIAL": Low, "P3": Low,
	"INFO": Info, "INFORMATIONAL": Info, "NOTE": Info,
}

// decisionOf reads one of the known spellings and nothing else: "NOT APPROVED", "APPROVED?" and "APPROVED, but" are
// no decision. A mark of refusal beside an approval is a contradiction.
func decisionOf(s string) (Decision, bool) {
	const decoration, refusal = "*_`\"'.! \t✅✔\uFE0F🟢👍", "❌✗✘⛔🚫🔴👎⚠🟡🛑"
	plain := strings.Trim(s, decoration+refusal)
	d, ok := decisions[canonical(plain)]
	if d == Approved && strings.ContainsAny(s, refusal) {
		return "", false
	}
	return d, ok
}

// severityOf returns the severity a reviewer wrote. An unknown or missing word is High, so that no finding is lost for
// its spelling.
func severityOf(s string) Severity {
	if v, ok := severities[canonical(strings.Trim(s, "*_`\"'.! \t[]()🔴🟠🟡🟢🔵⚪\uFE0F"))]; ok {
		return v
	}
	return High
}

// canonical folds case, and underscores, hyphens and runs of white space to one space.
func canonical(s string) string {
	return strings.ToUpper(strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == '_' || r == '-' || r == ' ' || r == '\t'
	}), " "))
}

var gravestFirst = []Severity{Critical, High, Medium, Low, Info}

// rank returns 0 for the gravest severity. An unknown one is as High: see severityOf.
func (s Severity) rank() int {
	if at := slices.Index(gravestFirst, s); at >= 0 {
		return at
	}
	return 1
}

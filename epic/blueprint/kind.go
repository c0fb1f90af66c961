package blueprint

import (
	"relay/epic"
	"relay/internal/lazyregexp"
)

// verifying matches titles of steps that make nothing: checkpoints, and runs of what is there already.
var verifying = lazyregexp.New(`(?i)^\W*(checkpoint\b|(re-?)?run\b.*\b(tests?|test suite|checks|linters?|quickstart\S*)(\W|\bvalidation\b)*$` +
	`|(verify|ensure|check|confirm|validate)\b.*\b(tests?|suite|build|builds|lint|checks|quickstart\S*)\b.*\b(pass|passes|green|succeeds?|works?|clean)\W*$)`)

// KindOf returns the kind that a task has by its title if the plan does not say one.
func KindOf(title string) epic.Kind {
	if verifying.MatchString(title) {
		return epic.KindVerify
	}
	return epic.KindFeature
}

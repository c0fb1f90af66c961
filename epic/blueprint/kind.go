package blueprint

import (
	"relay/epic"
	"relay/epic/pattern"
)

// verifying matches titles of steps that make nothing: checkpoints, and runs of what is there already.
var verifying = pattern.New(`(?i)^\W*(?:checkpoint(?:\s+\d+)?\s*(?:$|[:\x{2013}\x{2014}-]\s)|(?:re-?)?run (?:(?:all|the|full|whole|entire|complete|unit|integration|e2e|existing) )*(?:tests?|test suite|suite|checks|linters?|quickstart\S*)(?: validation| again)?\W*$|(?:verify|ensure|check|confirm|validate)(?: that)? (?:(?:all|the|full|whole|entire|unit|integration|e2e|existing) )*(?:tests?|test suite|suite|build|builds|lint|linters?|checks|quickstart\S*) (?:still )?(?:is |are )?(?:pass|passes|passing|green|succeeds?|works?|clean)\W*$)`)

var (
	ended      = pattern.New(`(?i)[ \t]*(?:[—–-]+[ \t]*|[\[(])?(?:[✅✓✔][ \t]*(?:done|completed?)?(?:[ \t]*\([^()]*\))?|(?:—|–|\[|\()[ \t]*(?:done|completed?|delivered|shipped)(?: [^()\[\]]{1,30}[\])])?)[\])]?[ \t]*$`)
	finished   = pattern.New(`(?i)^\W*(?:(?:completed|finished|shipped|resolved|implemented)\b|(?:complete|done|archived?)\b[^a-z]*(?:tasks?|items?|work)?\W*$)|^\s*✅`)
	deferred   = pattern.New(`(?i:[\[(](?:deferred|postponed|cancel+ed|skipped|won't do|wontfix|on hold)\b[^\])]*[\])]\W*$)|[—–~:-]\s*(?:DEFERRED|SKIPPED|CANCELLED)\W*$|^~~.+~~`)
	statusLine = pattern.New(`(?i)^[-*\s]*\**status\**\s*:\**(?:\s*(?:✅|☑|\[x\])\s*$|\W*(?:completed?|done|shipped|implemented|delivered|closed|fixed|resolved)\b)`)
)

// Ended takes ✅ or (done) off the end of a title, and reports whether it was there.
func Ended(title string) (rest string, done bool) {
	rest = ended.ReplaceAllString(title, "")
	return rest, rest != title
}

// IsDone reports whether a heading says that the work below it is done.
func IsDone(heading string) bool { return finished.MatchString(heading) }

// IsDeferred reports whether a title says that its task is not to be done now.
func IsDeferred(title string) bool { return deferred.MatchString(title) }

// SaysDone reports whether a line says that the work is done: **Status:** ✅ Complete.
func SaysDone(text string) bool { return statusLine.MatchString(text) }

// KindOf returns the kind that a task has by its title if the plan does not say one.
func KindOf(title string) epic.Kind {
	switch {
	case person.MatchString(title):
		return epic.KindPerson
	case verifying.MatchString(title):
		return epic.KindVerify
	}
	return epic.KindFeature
}

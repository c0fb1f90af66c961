package attempts

import (
	"cmp"
	"slices"
	"strings"

	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// FailedOnWork reports whether the check failed, and ran on the work and not on its base.
func (c CheckRun) FailedOnWork() bool { return c.ExitCode != 0 && c.Phase != PhaseBaseline }

// FailedSilently reports whether a check failed on the work and printed nothing.
func FailedSilently(checks []CheckRun) bool {
	return slices.ContainsFunc(checks, func(c CheckRun) bool { return c.FailedOnWork() && strings.TrimSpace(c.Tail) == "" })
}

// Tests returns what the check said of how many tests it ran.
func (c CheckRun) Tests() TestCount { return TestCount{Failed: c.FailedTests, Ran: c.RanTests} }

// Cause returns a text by which two failures are compared: the output of the checks that failed and the reviewers' findings,
// else what the agent or its CLI said, normalised. A check that printed nothing is compared by the change that it judged. It is ""
// when nothing of that is known: "exit status 1" or "nothing has changed" do not say why, so that two of them are not the same.
func Cause(r Receipt) string {
	parts, red := []string{string(r.ErrorCategory)}, false
	for _, c := range r.Checks {
		if c.FailedOnWork() {
			red = true
			if said := cmp.Or(Normalise(c.Tail), r.Change); said != "" {
				parts = append(parts, Normalise(c.Name), said)
			}
		}
	}
	if r.Findings != "" {
		parts = append(parts, Normalise(r.Findings))
	}
	if !red {
		if summary := summaryOf(r); summary != "" {
			parts = append(parts, summary)
		}
	}
	if len(parts) == 1 {
		return ""
	}
	return strings.Join(parts, "\n")
}

// summaryOf returns the error summary, unless it is nothing but relay's own words for how a process or an attempt ended.
func summaryOf(r Receipt) string {
	switch r.ErrorCategory {
	case NoChange, TimedOut, Interrupted:
		return ""
	default: // their summary describes the others
	}
	text := Normalise(r.ErrorSummary)
	if rest := howEnded.ReplaceAllString(text, ""); strings.Trim(rest, " ;:,.") == "" || ownWords.MatchString(text) {
		return ""
	}
	return text
}

var (
	howEnded = pattern.New(`(?:exit(?:ed with)? (?:status|code) \d+|(?:killed|ended) by (?:a )?signal\w*(?: [a-z]+)?|it left (?:a|\d+) process(?:es)? running)(?:[:,] (?:something in it|as the system does)[^;]*)?`)
	ownWords = pattern.New(`^the (?:agent|model|task|provider|run|process)\b[a-z', ]*$`)

	foldTime    = pattern.New(`\b\d{4}-\d\d-\d\d(?:[t ]\d\d[:_]\d\d(?:[:_]\d\d)?(?:[.,_]\d+)?(?:z|[+-]\d\d:?\d\d)?)?|\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|sec|secs|seconds?|min|minutes?|hours?)\b|\b\d+m\d+(?:\.\d+)?s\b|\bduration_ms:? [\d.]+`)
	foldClock   = pattern.New(`(^|[^\w:.])\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?\b`)
	foldAddress = pattern.New(`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\blocalhost:\d+\b|\[::1?\]:\d+\b|\bport \d+\b`)
	foldNumber  = pattern.New(`\b(goroutine|pid|process|thread) #?\d+\b`)
	foldPath    = pattern.New(`(^|[^\w.@~+/\\-])(?:[a-z]:|~)?(?:[/\\][\w.@~+-]+)*[/\\]([\w.@~+-]+)`)
	foldHex     = pattern.New(`\b0x[0-9a-f]+\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{7,}\b`)
	foldSpace   = pattern.New(`\s+`)

	// keptName matches names of files and programs; other last parts of a path are numbered or made up.
	keptName = pattern.New(`^[a-z_+-]+\d?$|\.[a-z][a-z0-9]{0,5}$`)
)

const maxNormalised = 16 << 10

// Normalise folds away what differs between two occurrences of one error: case, times, hex, addresses, numbers of processes
// and the folders of absolute paths. It keeps what distinguishes errors: names, and all other numbers.
func Normalise(text string) string {
	s := strings.ToLower(plaintext.Capped(text, maxNormalised))
	s = foldPath.ReplaceAllStringFunc(s, func(path string) string {
		m := foldPath.FindStringSubmatch(path)
		if keptName.MatchString(m[2]) {
			return m[1] + "<path>/" + m[2]
		}
		return m[1] + "<path>"
	})
	if strings.ContainsAny(s, "0123456789") {
		s = foldTime.ReplaceAllString(s, "<time>")
		s = foldClock.ReplaceAllString(s, "$1<time>")
		s = foldAddress.ReplaceAllString(s, "<address>")
		s = foldNumber.ReplaceAllString(s, "$1 <n>")
		s = foldHex.ReplaceAllStringFunc(s, func(word string) string {
			if strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdefx") {
				return "<hex>"
			}
			return word
		})
	}
	return strings.TrimSpace(foldSpace.ReplaceAllString(s, " "))
}

// TestCount records how many tests a test command says it ran and how many of those failed. The zero value means that it
// does not say so: a count of failed tests is only known when it is above 0 or Ran is.
type TestCount struct {
	Failed int
	Ran    int // passed and failed, without skipped ones; 0: not known
}

// FewerFailed reports whether fewer tests fail than before. It is false when either count is unknown, and when fewer tests
// were run: those that did not run may fail as well.
func (c TestCount) FewerFailed(before TestCount) bool {
	return c.Failed > 0 && c.Failed < before.Failed && (c.Ran == 0 || before.Ran == 0 || c.Ran >= before.Ran)
}

// MoreFailed reports whether more tests fail than before; false when either count is unknown.
func (c TestCount) MoreFailed(before TestCount) bool {
	return before.Failed > 0 && c.Failed > before.Failed
}

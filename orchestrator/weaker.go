package orchestrator

import (
	"fmt"
	"regexp"
	"strings"
)

// Lines of a test, in common languages: where one begins, those that prove something, those that prove what is true
// anyway, and those that keep a test from proving anything. What stands in a comment does none of it, but for directives.
var (
	testHead  = regexp.MustCompile(`#\[(\w+::)*test\b|@(Parameterized|Repeated)?Test\b|\[(Fact|Theory|Test|TestMethod|TestCase)\b|\bfunc (Test|Fuzz|Example)|\bdef test|\bfunction test|\bTEST(_F|_P)?\s*\(|(^|[^.\w])[xf]?(it|test|describe|specify)(\.\w+)*\s*(\(|['"])`)
	assertion = regexp.MustCompile(`(?i)\bassert|\bexpect\s*\(|\brequire\.|\bshould\b|\.to(Be|Equal|Have|Throw|Match)|\bt\.(Error|Fatal|Fail)|\braises\s*\(|\bcheck\s*\(`)
	tautology = regexp.MustCompile(`(?i)\b(assert|require|expect)[\w.!]*[\s(]+(t,\s*)?true\s*($|[,;)])`)
	skip      = regexp.MustCompile(`(?i)\bskip(If|Now|Test|f)?\s*[(:=]|@(unittest\.)?skip|pytest\.mark\.(skip|xfail)|\bSkipTest\b|\bexpectedFailure\b|__test__\s*=\s*False|\bcollect_ignore|@Ignore\b|\[Ignore\b|@Disabled\b|\benabled\s*=\s*false|\bassume(True\s*\(\s*false|False\s*\(\s*true)|\bmarkTest(Skipped|Incomplete)|\b(it|test|describe|context)\.(skip|only|todo|fixme|failing)\b|(^|[^.\w])[xf](it|test|describe|context|specify)\s*[(]|#\[ignore|^[+-]\s*if \(?(false|0)\)?\s*[:{]?\s*$`)
	directive = regexp.MustCompile(`^[+-](//go:build\b|//\s*\+build\b|\s*#\s*if\s+0\b)`)
	comment   = regexp.MustCompile(`^[+-]\s*(//|#([^\[!]|$)|/\*|\*[ /]|--|<!--|;|%)`)
)

// tally counts what a diff takes away from a test.
type tally struct {
	tests, asserts, skips int
	loose                 slack
}

// line counts one removed or added line.
func (t *tally) line(line string) {
	sign := 1
	if line[0] == '-' {
		sign = -1
	}
	if directive.MatchString(line) {
		t.skips += sign
	}
	if comment.MatchString(line) {
		return
	}
	if testHead.MatchString(line) {
		t.tests += sign
	}
	if assertion.MatchString(line) && !tautology.MatchString(line) {
		t.asserts += sign
	}
	if skip.MatchString(line) {
		t.skips += sign
	}
	if sign > 0 {
		t.loose.added(line)
	} else {
		t.loose.removed(line)
	}
}

// less says what was taken away, or is "".
func (t *tally) less() string {
	var said []string
	if t.asserts < 0 {
		said = append(said, fmt.Sprintf("%d fewer assertions", -t.asserts))
	}
	if t.tests < 0 {
		said = append(said, fmt.Sprintf("%d fewer tests", -t.tests))
	}
	if t.skips > 0 {
		said = append(said, fmt.Sprintf("%d more skipped", t.skips))
	}
	if t.loose.wider > 0 {
		said = append(said, fmt.Sprintf("tolerance widened %d times", t.loose.wider))
	}
	return strings.Join(said, ", ")
}

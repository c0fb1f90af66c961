package changes

import (
	"fmt"
	"strconv"
	"strings"

	"relay/epic/each"
	"relay/epic/pattern"
)

// Lines of a test, in common languages: where one begins, those that prove something, those that prove what is true
// anyway, and those that keep a test from proving anything. Comments other than directives do none of it.
var (
	testHead  = pattern.New(`#\[(\w+::)*test\b|@(Parameterized|Repeated)?Test\b|\[(Fact|Theory|Test|TestMethod|TestCase)\b|\bfunc (Test|Fuzz|Example)|\bdef test|\bfunction test|\bTEST(_F|_P)?\s*\(|(^|[^.\w])[xf]?(it|test|describe|specify)(\.\w+)*\s*(\(|['"])`)
	assertion = pattern.New(`(?i)\bassert|\bexpect\s*\(|\brequire\.|\bshould\b|\.to(Be|Equal|Have|Throw|Match)|\bt\.(Error|Fatal|Fail)|\braises\s*\(|\bcheck\s*\(`)
	tautology = pattern.New(`(?i)\b(assert|require|expect)[\w.!]*[\s(]+(t,\s*)?true\s*($|[,;)])`)
	skip      = pattern.New(`(?i)\bskip(If|Now|Test|f)?\s*[(:=]|@(unittest\.)?skip|pytest\.mark\.(skip|xfail)|\bSkipTest\b|\bexpectedFailure\b|__test__\s*=\s*False|\bcollect_ignore|@Ignore\b|\[Ignore\b|@Disabled\b|\benabled\s*=\s*false|\bassume(True\s*\(\s*false|False\s*\(\s*true)|\bmarkTest(Skipped|Incomplete)|\b(it|test|describe|context)\.(skip|only|todo|fixme|failing)\b|(^|[^.\w])[xf](it|test|describe|context|specify)\s*[(]|#\[ignore|\b(os\._exit|sys\.exit|process\.exit|os\.Exit)\s*\(\s*0?\s*\)|^[+-]\s*if \(?(false|0)\)?\s*[:{]?\s*$`)
	directive = pattern.New(`^[+-](//go:build\b|//\s*\+build\b|\s*#\s*if\s+0\b)`)
	comment   = pattern.New(`^[+-]\s*(//|#([^\[!]|$)|/\*|\*[ /]|--|<!--|;|%)`)
)

// BeginsTest reports whether a test begins in a line.
func BeginsTest(line string) bool { return testHead.MatchString(line) }

// AssertionDiff counts what a diff takes away from a test.
type AssertionDiff struct {
	tests, asserts, skips int
	wants                 map[string]int // assertions by what they say: how often one was added less removed
	block                 bool           // a comment has begun in this part of the diff, and not ended
	loose                 toleranceDiff
}

// Line counts one removed or added line, or the beginning of another part of the diff.
func (t *AssertionDiff) Line(line string) {
	if t.wants == nil {
		t.wants, t.loose.was = make(map[string]int), make(map[string][]float64)
	}
	if line[0] == '@' {
		t.hunk()
		return
	}
	sign := 1
	if line[0] == '-' {
		sign = -1
	}
	if directive.MatchString(line) {
		t.skips += sign
	}
	if sign > 0 {
		t.block = strings.LastIndex(line, "/*") > strings.LastIndex(line, "*/") || t.block && !strings.Contains(line, "*/")
	}
	if comment.MatchString(line) {
		return
	}
	if testHead.MatchString(line) {
		t.tests += sign
	}
	if assertion.MatchString(line) && !tautology.MatchString(line) {
		t.asserts += sign
		t.wants[strings.TrimSpace(line[1:])] += sign
	}
	if skip.MatchString(line) {
		t.skips += sign
	}
	switch {
	case !tolerance.MatchString(line):
	case sign > 0:
		t.loose.added(line)
	default:
		t.loose.was[number.ReplaceAllString(line[1:], "#")] = numbers(line)
	}
}

// hunk ends a part of the diff. Where a comment that was begun in it goes on, old lines prove nothing any more.
func (t *AssertionDiff) hunk() {
	if t.block {
		t.skips++
	}
	t.block = false
}

// OtherAssertion says that a test has as many assertions as before, and others.
const OtherAssertion = "asserts something else than before"

// Issue returns text that says how a test asserts something else than before; "": it does not.
func (t *AssertionDiff) Issue() string {
	t.hunk()
	if less := t.less(); less != "" {
		return "asserts less than before: " + less
	}
	other := 0
	for _, n := range t.wants {
		other -= min(n, 0)
	}
	if other > 0 {
		return fmt.Sprintf(OtherAssertion+": %d assertions changed", other)
	}
	return ""
}

// less returns text that says what was taken away, or is "".
func (t *AssertionDiff) less() string {
	var losses []string
	if t.asserts < 0 {
		losses = append(losses, fmt.Sprintf("%d fewer assertions", -t.asserts))
	}
	if t.tests < 0 {
		losses = append(losses, fmt.Sprintf("%d fewer tests", -t.tests))
	}
	if t.skips > 0 {
		losses = append(losses, fmt.Sprintf("%d more skipped", t.skips))
	}
	if t.loose.wider > 0 {
		losses = append(losses, fmt.Sprintf("tolerance widened %d times", t.loose.wider))
	}
	return strings.Join(losses, ", ")
}

// EachChangedLine calls visit with each line that a diff removes or adds, and the beginning of each of its parts.
func EachChangedLine(diff string, visit func(line string)) {
	inHunk := false
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
			visit(line)
		case inHunk && (strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")):
			visit(line)
		}
	}
}

// tolerance matches lines of a test that say how exact a result must be; finer, those of them where more is more exact;
// number, what may have been changed in them.
var (
	tolerance = pattern.New(`(?i)toleran|epsilon|\beps\b|delta|approx|within|close_?to|isclose|[ar](bs)?_?tol\b|rel_tol|margin|threshold|places|precision|digits|timeout`)
	finer     = pattern.New(`(?i)places|precision|digits|close_?to\s*\([^,)]*,\s*\d+\s*\)`)
	number    = pattern.New(`\d+(\.\d+)?([eE][-+]?\d+)?`)
)

// toleranceDiff finds tolerances that a diff has widened: a line that is the same but for a larger number, or a smaller one
// where it counts places.
type toleranceDiff struct {
	was   map[string][]float64 // numbers of removed lines, by the line without them
	wider int
}

func (s *toleranceDiff) added(line string) {
	before, now := s.was[number.ReplaceAllString(line[1:], "#")], numbers(line)
	for i := range min(len(before), len(now)) {
		if before[i] == now[i] {
			continue
		}
		if wider := now[i] > before[i]; wider != finer.MatchString(line) {
			s.wider++
		}
		return
	}
}

func numbers(line string) []float64 {
	return each.Where(number.FindAllString(line, -1), func(text string) (float64, bool) {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil
	})
}

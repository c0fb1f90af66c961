package checks

import (
	"slices"
	"strconv"
	"strings"

	"relay/attempts"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// testSummary is one form in which test programs say how a run came out, in one line.
type testSummary struct {
	// form has groups with names: of numbers, failed, more (failed too), passed, total (of both), and alone (failed, when
	// another line has the total); of words that stand for one test, afail and apass.
	form *pattern.Regexp
	sum  bool // there is a line for each part of the run; else the last line counts for all
	weak bool // only counts when no other form was found
}

// testSummaries are the forms known, the first that matches a line takes it.
var testSummaries = []testSummary{
	// cargo test, for each test binary
	{form: pattern.New(`^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed;`), sum: true},
	// go test: one line for each failed test, and with -v for each passed one
	{form: pattern.New(`^\s*--- (?:(?P<afail>FAIL)|(?P<apass>PASS)): `), sum: true},
	// jest: "Tests:       2 failed, 1 skipped, 7 passed, 10 total"
	{form: pattern.New(`^Tests:\s+(?:(?P<failed>\d+) failed, )?(?:\d+ (?:skipped|todo|pending), )*(?:(?P<passed>\d+) passed, )?\d+ total`)},
	// vitest: "      Tests  2 failed | 7 passed (9)"
	{form: pattern.New(`^\s*Tests\s+(?:(?P<failed>\d+) failed)?(?: \| )?(?:(?P<passed>\d+) passed)?(?: \| .*)?\s*\(\d+\)`)},
	// pytest: "== 2 failed, 7 passed in 0.10s =="; with -q without the signs
	{form: pattern.New(`^=*\s*(?:(?P<failed>\d+) failed)?(?:, )?(?:(?P<passed>\d+) passed)?(?:(?:, )?\d+ (?:skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed))*(?:(?:, )?(?P<more>\d+) errors?)? in \d[\d.]*s`)},
	// maven, for each class and then for all: "Tests run: 9, Failures: 1, Errors: 0, Skipped: 0"
	{form: pattern.New(`Tests run: (?P<total>\d+), +Failures: (?P<failed>\d+)(?:, +Errors: (?P<more>\d+))?`)},
	// gradle: "45 tests completed, 12 failed"
	{form: pattern.New(`^\s*(?P<total>\d+) tests? completed, (?P<failed>\d+) failed`)},
	// PHPUnit: "Tests: 5, Assertions: 9, Failures: 1."
	{form: pattern.New(`^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<more>\d+))?(?:, Failures: (?P<failed>\d+))?`)},
	// rspec, ExUnit, bats: "9 examples, 1 failure"
	{form: pattern.New(`^(?P<total>\d+) (?:examples?|tests?), (?P<failed>\d+) failures?\b`)},
	// minitest: "9 runs, 12 assertions, 1 failures, 0 errors, 0 skips"
	{form: pattern.New(`^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<more>\d+) errors`)},
	// dotnet test, for each assembly: "Failed!  - Failed:     1, Passed:     8, Skipped:     0, Total:     9"
	{form: pattern.New(`^\w+!\s+- Failed:\s+(?P<failed>\d+), Passed:\s+(?P<passed>\d+),`), sum: true},
	// ctest: "89% tests passed, 1 tests failed out of 9"
	{form: pattern.New(`^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)`)},
	// Python's unittest: "Ran 9 tests in 0.001s" and "FAILED (failures=1, errors=1)"
	{form: pattern.New(`^Ran (?P<total>\d+) tests? in [\d.]+s`)},
	{form: pattern.New(`^FAILED \((?:failures=(?P<alone>\d+))?(?:, )?(?:errors=(?P<alone>\d+))?[^)]*\)`)},
	// mocha: "  7 passing (10ms)" and "  2 failing"
	{form: pattern.New(`^\s+(?P<passed>\d+) passing\b`)},
	{form: pattern.New(`^\s+(?P<failed>\d+) failing$`)},
	// TAP, the summary of node --test: "# pass 7", "# fail 2"
	{form: pattern.New(`^(?:#|ℹ) pass (?P<passed>\d+)$`)},
	{form: pattern.New(`^(?:#|ℹ) fail (?P<failed>\d+)$`)},
	// TAP, a line for each test
	{form: pattern.New(`^(?:(?P<apass>ok)|(?P<afail>not ok)) \d+\b`), sum: true, weak: true},
	// "3 of 12 tests failed", "3/12 failed"
	{form: pattern.New(`(?i)(?:^\W*|[:,(] *)(?P<failed>\d+)(?: of |/)(?P<total>\d+)(?: \w+)? (?:failed|failures|failing)\b`), weak: true},
	// "2 failed, 7 passed", "2 tests failed", "2 failures"
	{form: pattern.New(`(?i)(?:^\W*|[:,(] *)(?P<failed>\d+)(?: tests?)? (?:failed|failures?|failing)\b(?:, (?P<passed>\d+) passed\b)?`), weak: true},
}

// hints are the words of which one is in each line that says something of tests.
var hints = []string{"fail", "FAIL", "Fail", "pass", "PASS", "ok ", "ests", "ERROR", "error", "panic: "}

var (
	// untold matches what keeps tests from being counted: a part of them was not built, or the program ended in the middle.
	untold = pattern.New(`^FAIL\t\S+ \[(build|setup) failed\]|^panic: |^error: could not compile|Interrupted: \d+ errors? during collection|Test suite failed to run`)
	todo   = pattern.New(`(?i)# (todo|skip)\b`)
)

// CountTests reads from the output of a test command how many tests ran and failed: the forms of go test, pytest, jest,
// vitest, mocha, cargo, TAP, maven, gradle, PHPUnit, rspec, minitest, dotnet, ctest and unittest, and "N failed". The
// count is zero when there is none, and when a part of the tests was not counted.
func CountTests(output string) attempts.TestCount {
	counts := make([]attempts.TestCount, len(testSummaries))
	strong := false
	for line := range strings.SplitSeq(output, "\n") {
		if line = strings.TrimSuffix(line, "\r"); strings.Contains(line, "\x1b") {
			line = plaintext.Clean(line)
		}
		if len(line) > 1000 || !slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(line, hint) }) {
			continue
		}
		if untold.MatchString(line) {
			return attempts.TestCount{}
		}
		for i, s := range testSummaries {
			m := s.form.FindStringSubmatch(line)
			if m == nil || s.weak && todo.MatchString(line) {
				continue
			}
			c := s.read(m)
			if c == (attempts.TestCount{}) {
				break
			}
			if s.sum {
				c.Failed, c.Ran = c.Failed+counts[i].Failed, c.Ran+counts[i].Ran
			}
			counts[i] = c
			strong = strong || !s.weak
			break
		}
	}
	return added(counts, strong)
}

// read returns the test counts in the submatches of a line.
func (s testSummary) read(m []string) (c attempts.TestCount) {
	for k, name := range s.form.SubexpNames() {
		if k == 0 || m[k] == "" {
			continue
		}
		n, err := strconv.Atoi(m[k])
		switch {
		case name == "afail":
			c.Failed++
			c.Ran++
		case name == "apass":
			c.Ran++
		case err != nil || n > 1<<30:
		case name == "total":
			c.Ran = n
		case name == "passed":
			c.Ran += n
		case name == "alone", slices.Contains(s.form.SubexpNames(), "total"):
			c.Failed += n
		default:
			c.Failed, c.Ran = c.Failed+n, c.Ran+n
		}
	}
	return c
}

// added sums up what the forms found. A form that tells of failed tests alone makes the total unknown, unless another one
// told of those that passed.
func added(counts []attempts.TestCount, strong bool) (all attempts.TestCount) {
	for i, c := range counts {
		if testSummaries[i].weak == strong {
			continue
		}
		all.Failed, all.Ran = all.Failed+c.Failed, all.Ran+c.Ran
	}
	if all.Ran <= all.Failed { // the number of passed tests is unknown
		all.Ran = 0
	}
	return all
}

package plaintext

import (
	"slices"
	"strings"

	"relay/epic/pattern"
)

// form is one form of telling lines.
type form struct {
	hints    []string // of which a line has one
	patterns []*pattern.Regexp
}

// forms are the forms of telling lines; the first ones tell the most. Each has the rank of its place, from 1; words come after them.
var forms = []form{
	// pytest's own summary, and assertions: FAILED tests/test_a.py::test_b - assert 1 == 2
	{[]string{"::", "E  "}, []*pattern.Regexp{pattern.New(`^(?:FAILED|ERROR) \S+::\S+|^E\s{2,}\S`)}},
	// places with a message
	{[]string{": ", " - error", "] ", "] "}, []*pattern.Regexp{
		// file:line: message, file:line:column - error TS1: message
		pattern.New(`^(?:error: |e: )?(?:file://|\./|[A-Za-z]:\\)?[\w.@/\\+-]+\.[A-Za-z]\w{0,9}:\d+(?::\d+)?(?::? | - error )\S.*\w`),
		// file(line,column): error TS1: message, [ERROR] file:[line,column] message
		pattern.New(`^(?:\[ERROR\] )?[\w.@/\\+-]+\.[A-Za-z]\w{0,9}(?:\(\d+(?:,\d+)?\): |:\[\d+(?:,\d+)?\] )\S.*\w`),
	}},
	// exceptions, panics, and what compilers and programs call an error; what was wanted of an assertion
	{[]string{
		"rror", "xception", "panic", "atal", "RROR", "ATAL", "left", "right", "xpected", "eceived", "ctual",
		"pattern ", "annot find", "Must use", "╰─▶",
	}, []*pattern.Regexp{
		pattern.New(`^(?:\w+[.:]+)*\w*(?:Error|Exception)(?:\s\[\w+\])?: \S|^panic: |^thread '.*' panicked at |^assertion .*failed`),
		pattern.New(`^(?i:\[?(?:error|fatal)\]?)(?:\[\w+\])?[: ]\s*\S|^\w[\w ./-]{0,40}: (?:error|fatal): |^\d+:\d+\s+error\s`),
		pattern.New(`\blevel=(?:error|fatal)\b|"level":\s*"(?:error|fatal)"|^\[?[\dT:.,Z/+ -]{8,30}\]?\s+\[?(?:ERROR|FATAL|error)\]?\b`),
		pattern.New(`^npm (?:ERR!|error) (?i:missing|invalid|notarget|404|could not|peer)\b`),
		pattern.New(`^(?i:expected|received|actual|left|right)\b[^:]{0,30}:\s*\S|^pattern \S+: \S|^(?:Cannot find|Must use|╰─▶) \S`),
	}},
	// rules of linters, with the place in the next line
	{[]string{"`", "invalid-syntax: ", "too long"}, []*pattern.Regexp{
		pattern.New(`^(?:[A-Z]{1,4}\d{3,4} (?:\[\*\] )?|invalid-syntax: )\S`),
	}},
	// names of tests that failed, and places alone
	{[]string{"FAIL", "not ok", "●", "✕", "✗", "✘", "×", ") ", "--> ", "***", "rspec "}, []*pattern.Regexp{
		pattern.New(`^--- FAIL: |^not ok \d+|^[●✕✗✘×] \S|^FAIL: \S|^test \S+ \.\.\. FAILED|^\d+\) \S|^--> \S+:\d+`),
		pattern.New(`^\d+/\d+ Test .*\*\*\*|^rspec \./\S+:\d+|^\S+ > .* FAILED$`),
	}},
	// files and packages with failures
	{[]string{"FAIL"}, []*pattern.Regexp{pattern.New(`^FAIL:? +\S+[./]\S+|^FAIL\t\S+ \[|^> Task .* FAILED`)}},
}

// words mean a failure, wherever they stand in a line.
var words = []string{
	"not found", "no such", "cannot", "can't", "could not", "couldn't", "denied", "refused", "failed", "failure", "expected", "undefined",
	"unresolved", "missing", "timed out", "timeout", "unable to", "invalid", "mismatch", "not logged in", "unauthorized", "segmentation fault",
	"core dumped", "out of memory", "killed", "data race", "not allowed", "permission", "conflict", "unknown ", "error:",
	"would reformat", "does not exist", "no tests found",
}

// mildest is the rank of what is milder than a failure.
const mildest = 100

// milder is of no failure where there is one, or names a test of unittest, which prints the failure as well.
var milder = pattern.New(`: (?:warning|note|info): |^\d+:\d+\s+warning\s|^(?i:warning|warn)\b[^!]*$|^ERROR: \w+ \(`)

// rankOf returns the rank of a line, 0 for one that tells nothing.
func rankOf(text string) int {
	rank := rankAsIs(text)
	if rank > 0 && milder.MatchString(text) && !strings.Contains(text, "DATA RACE") {
		return mildest
	}
	return rank
}

func rankAsIs(text string) int {
	for i, f := range forms {
		if slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(text, hint) }) &&
			slices.ContainsFunc(f.patterns, func(p *pattern.Regexp) bool { return p.MatchString(text) }) {
			return i + 1
		}
	}
	lower := strings.ToLower(text)
	if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(lower, word) }) {
		return len(forms) + 1
	}
	return 0
}

// noise says nothing that is not known.
var noise = []*pattern.Regexp{
	// how a command ended
	pattern.New(`^(?:exit (?:status|code) \d+|g?make(?:\[\d+\])?: (?:\*\*\* \[|Leaving|Entering).*|error: (?:Recipe|recipe|process|test failed|aborting due|could not compile|\d+ targets? failed) ?.*|error: script ".*" exited with code \d+)$`),
	pattern.New(`^(?:npm (?:ERR!|error|WARN|warn)|npm (?:ERR!|error|WARN|warn) (?:code|errno|path|command|A complete log|Lifecycle|workspace|location|syscall|dest|cwd|node|npm|This is probably|There is likely|Exit status|Test failed|[\w@./-]+ (?:test|build|lint): ).*|error Command failed with exit code \d+\.?|info Visit .*|Error: ERR_PNPM_\w+|\S*ELIFECYCLE\S*\s.*)$`),
	pattern.New(`^(?:\[ERROR\]\s+)*(?:Tests run: .*|Failures:|Some problems were encountered .*|The build could not read .*|The project .* has \d+ errors?)$`),
	pattern.New(`^(?:\[ERROR\] )?(?:To see the full stack trace|Re-run Maven|For more information about|After correcting|-> \[Help \d\]|\[Help \d\]|Try:|Run with).*$|^\[(?:ERROR|INFO|WARNING|DEBUG)\]$|^\[(?:INFO|WARNING|DEBUG)\] `),
	// headings
	pattern.New(`^(?:● Test suite failed to run|Error Message:|error: \|-|Build FAILED\.|error: external filter .* failed(?: -?\d+)?|fatal: .*: (?:smudge|clean) filter \S+ failed)$`),
	// what passed, and counts
	pattern.New(`^(?:FAIL|PASS|ok|FAIL\t\S+\t[\d.]+s|ok\s+\S+\s.*|\? .*|PASSE?D? .*|--- (?:PASS|SKIP): .*|=== (?:RUN|PAUSE|CONT|NAME) .*|test \S+ \.\.\. (?:ok|ignored))$`),
	pattern.New(`^(?:(?:test result|Tests|Test Suites|Snapshots|Time|Test Files|Duration|Start at):?\s.*\d.*|Ran all test suites.*|.*\b0 (?:failed|failures|errors)\b.*|[✖✗×] \d+ problems? .*|\d+ (?:passing|failing|pending|passed|failed)\b.*|Failed!\s+- Failed:.*|Found \d+ errors?.*)$`),
	// tables of coverage
	pattern.New(`^(?:(?:All files|\S+\.\w+)\s*\|(?:\s*[\d.]+\s*\|)+.*|\S+\s+\d+\s+\d+(?:\s+\d+\s+\d+)?\s+\d+%.*|TOTAL\s.*|coverage: .*|(?:Required|FAIL Required) test coverage of .* reached.*)$`),
	// places of calls on a stack
	pattern.New(`^(?:at .*[:(].*|File ".*", line \d+.*|Traceback .*|goroutine \d+.*|\S+\.go:\d+ \+0x[0-9a-f]+|created by .*|(?:testing|runtime|main)\.[\w.()*]+\(.*|\S+\.py:\d+: in \w+|For more information about this error.*|note: run with .RUST_BACKTRACE.*|stack backtrace:)$`),
	// rules, quoted source, keys
	pattern.New(`^(?:\d+ \|.*|\|[\s^~-]*|\W*|(?:=|-|⎯){3,} .* (?:=|-|⎯){3,}|_{3,} .* _{3,}|-{5}(?:BEGIN|END) .*|[A-Za-z0-9+/=_-]{60,})$`),
}

// isNoise reports that a line says nothing that is not known.
func isNoise(text string) bool {
	return slices.ContainsFunc(noise, func(p *pattern.Regexp) bool { return p.MatchString(text) })
}

// Lines that name a test that failed, and what in them differs from run to run.
var (
	failedTest = pattern.New(`^(?:--- FAIL: |FAIL: |ERROR: \S+ \(|not ok \d+(?: -)? |[●✕✗✘×] |(?:FAILED|ERROR) (?:\S+::)|test \S+ \.\.\. FAILED|\d+\) |\S+ > .* FAILED$|rspec \./)`)
	took       = pattern.New(` (?:- .*|\(?[\d.]+ ?m?s\)?|# .*)$|^not ok \d+(?: -)? |^\d+\) `)
	digits     = pattern.New(`\b\d{3,}\b`)
)

// TellingTests names the tests that failed, as far as the output of a test runner has a line for each.
func TellingTests(output string) (names []string) {
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); failedTest.MatchString(line) {
			names = append(names, digits.ReplaceAllString(took.ReplaceAllString(line, ""), "0"))
		}
	}
	return names
}

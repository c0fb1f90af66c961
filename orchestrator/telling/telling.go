// Package telling finds the lines in the output of a failed command that say why it failed.
//
// What it knows are forms, not tools: a place in a file with a message, the name of a failed test, an exception, words that mean a failure.
// The end of the output, where most people look first, is often only "exit status 1".
package telling

import (
	"cmp"
	"slices"
	"strings"

	"relay/internal/lazyregexp"
	"relay/internal/plaintext"
)

// Bounds, in lines and bytes.
const (
	most    = 3
	maxLine = 160
	maxScan = 2000 // of a line: what is longer is data
)

// form is one form of telling lines.
type form struct {
	hints   []string // of which a line has one
	pattern *lazyregexp.Regexp
}

// forms are the forms of telling lines; the first ones tell the most. Each has the rank of its place, from 1; words come after them.
var forms = []form{
	// pytest's own summary: FAILED tests/test_a.py::test_b - assert 1 == 2
	{[]string{"::", "E  "}, lazyregexp.New(`^(?:FAILED|ERROR) \S+::\S+|^E\s{2,}\S`)},
	// file:line: message, file(line,column): error TS1: message
	{[]string{": "}, lazyregexp.New(`^(?:\./)?[\w.@/\\+-]+\.[A-Za-z]\w{0,9}(?::\d+(?::\d+)?:? |\(\d+(?:,\d+)?\): )\S.*\w`)},
	// exceptions, panics, and what compilers and programs call an error
	{[]string{"rror", "xception", "panic: ", "atal", "RROR", "ATAL"}, lazyregexp.New(
		`^(?:\w+\.)*\w*(?:Error|Exception)(?:\s\[\w+\])?: \S|^panic: |^(?i:error|fatal)(?:\[\w+\])?:\s*\S|^\w[\w ./-]{0,40}: (?:error|fatal): |^\d+:\d+\s+error\s`)},
	// names of tests that failed
	{[]string{"FAIL", "not ok", "●", "✕", "✗", "✘", "×", ") "}, lazyregexp.New(
		`^--- FAIL: |^not ok \d+|^[●✕✗✘×] \S|^FAIL:? \S+[./]\S+|^test \S+ \.\.\. FAILED|^\d+\) \S`)},
}

// words mean a failure, wherever they stand in a line.
var words = []string{
	"not found", "no such", "cannot", "can't", "could not", "denied", "refused", "failed", "failure", "expected", "undefined", "unresolved",
	"missing", "timed out", "unable to", "invalid", "mismatch",
}

// noise says nothing that is not known: how the command ended, and the places of calls on a stack.
var noise = lazyregexp.New(`^(?:exit (?:status|code) \d+|FAIL|FAIL\t\S+\t[\d.]+s|ok\s+\S+\s.*|\? .*|make(?:\[\d+\])?: (?:\*\*\*|Leaving|Entering) .*|npm (?:ERR!|error) (?:code|errno|path|command|A complete log|Lifecycle|workspace|location).*|error: (?:Recipe|recipe|process|test failed|aborting due|could not compile) .*|at .*[:(].*|File ".*", line \d+.*|Traceback .*|goroutine \d+.*|\S+\.go:\d+ \+0x[0-9a-f]+|For more information about this error.*|.*\b0 (?:failed|failures|errors)\b.*|[=\-_*~#. ]*)$`)

// found is a line and how much it tells.
type found struct {
	rank, at int
	text     string
}

// Lines returns the lines of an output that say why its command failed, in their order: at most three, each clean, without its indentation
// and of at most 160 bytes. There are none in an empty output.
func Lines(output string) []string {
	var list []found
	at := 0
	for raw := range strings.SplitSeq(output, "\n") {
		at++
		if len(raw) > maxScan {
			continue
		}
		text := shown(raw)
		rank := rankOf(text)
		if rank == 0 || noise.MatchString(text) || slices.ContainsFunc(list, func(f found) bool { return f.text == text }) {
			continue
		}
		list = keep(list, found{rank, at, text})
	}
	if len(list) == 0 {
		list = lastOf(output)
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	lines := make([]string, 0, len(list))
	for _, f := range list {
		lines = append(lines, clip(f.text))
	}
	return lines
}

// shown returns a line as a terminal would show it, without space around it.
func shown(raw string) string {
	raw = strings.TrimRight(raw, "\r")
	raw = raw[strings.LastIndexByte(raw, '\r')+1:] // what stood there before was written over
	return strings.TrimSpace(plaintext.Clean(raw))
}

// lastOf returns the last line that says anything.
func lastOf(output string) []found {
	for output != "" {
		i := strings.LastIndexByte(output, '\n')
		raw := output[i+1:]
		output = output[:max(i, 0)]
		if len(raw) > maxScan {
			continue
		}
		if text := shown(raw); text != "" && !noise.MatchString(text) {
			return []found{{text: text}}
		}
	}
	return nil
}

// keep adds a line to those that tell the most, of which there are few.
func keep(list []found, f found) []found {
	list = append(list, f)
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(a.rank, b.rank) })
	return list[:min(len(list), most)]
}

// rankOf returns the rank of a line, 0 for one that tells nothing.
func rankOf(text string) int {
	for i, f := range forms {
		if slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(text, hint) }) && f.pattern.MatchString(text) {
			return i + 1
		}
	}
	lower := strings.ToLower(text)
	if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(lower, word) }) {
		return len(forms) + 1
	}
	return 0
}

func clip(text string) string {
	if len(text) <= maxLine {
		return text
	}
	return plaintext.Head(text, maxLine-len("…")) + "…"
}

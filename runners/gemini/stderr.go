package gemini

import (
	"strconv"
	"strings"

	"relay/internal/lazyregexp"
	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// errorReportPattern is the line on stderr that names the class of the error that the CLI gave up on. It knows more than the
// result, which calls most of them unknown.
var errorReportPattern = lazyregexp.New(`(?m)^Error when talking to Gemini API Full report available at: .*\.json (\w+): (.*)$`)

// class returns the class of the result's error inside the CLI, or "". What tools print comes to stderr too, when they
// fail: only the last report counts, and only if it speaks of the same error.
func (s *reader) class() string {
	found := errorReportPattern.FindAllStringSubmatch(s.stderr(), -1)
	if len(found) == 0 {
		return ""
	}
	last := found[len(found)-1]
	if words := strings.TrimSpace(last[2]); words == "" || !strings.Contains(s.result.Error.Message, words) {
		return ""
	}
	return last[1]
}

// retryPattern is the line on stderr by which the CLI tells that it will ask again.
var retryPattern = lazyregexp.New(`(?m)^Attempt \d+ failed(?: with status (\d+))?(?:: |\. )(.*)$`)

// retried returns the provider's last fault that the CLI is waiting out. It is looked for only when the model has said
// nothing yet: later there may be words of tools on stderr.
func (s *reader) retried() (o runners.Outcome, detail string, ok bool) {
	found := retryPattern.FindAllStringSubmatch(s.stderr(), -1)
	if s.agent.Answered || len(found) == 0 {
		return "", "", false
	}
	last := found[len(found)-1]
	o, detail = runners.RateLimited, last[2] // what it waits out for longer, because it is asked to, has no status
	words, retries := strings.CutPrefix(detail, "Retrying with backoff... ")
	if status, _ := strconv.Atoi(last[1]); status != 0 {
		o, detail = cliFault{}.blame(status), adapter.ProviderFault(status, "")
	} else if retries {
		o, detail = runners.Network, words
	}
	o, detail = adapter.GaveUp(o, detail)
	return o, detail, true
}

// stderr returns the end of it: a report of an error there, with its stack, has some 3 KB.
func (s *reader) stderr() string { return adapter.End(s.agent.Req.Stderr, adapter.MaxStderr) }

// noisePattern are lines that the CLI begins with, and its traces, which say nothing to a person.
var noisePattern = lazyregexp.New(`(?m)^(?:Warning: (?:Basic terminal|256-color)|YOLO mode is enabled|Ripgrep is not available|\[STARTUP\]|Error authenticating: |\s+(?:at |exitCode: )|\}$).*\n?`)

// exited returns text that says how the CLI ended, with its telling lines: of those before the help page that it prints for
// a wrong flag.
func (s *reader) exited(exit process.Exit) string {
	words, _, _ := strings.Cut(s.stderr(), "\nUsage: gemini ")
	return adapter.ExitWords(exit, noisePattern.ReplaceAllString(words, ""))
}

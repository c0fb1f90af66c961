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

type retryWait struct {
	outcome runners.Outcome
	detail  string
}

// retried returns the provider's last fault that the CLI is waiting out. It is looked for only when the model has said
// nothing yet: later there may be words of tools on stderr.
func (s *reader) retried() (retryWait, bool) {
	if s.agent.Answered {
		return retryWait{}, false
	}
	found := retryPattern.FindAllStringSubmatch(s.stderr(), -1)
	if len(found) == 0 {
		return retryWait{}, false
	}
	last := found[len(found)-1]
	status, _ := strconv.Atoi(last[1])
	w := retryWait{runners.RateLimited, last[2]} // what it waits out for longer, because it is asked to, has no status
	switch {
	case status == 429:
		w.detail = adapter.ProviderFault(status, "")
	case status != 0:
		w = retryWait{cliFault{}.blame(status), adapter.ProviderFault(status, "")}
	case strings.HasPrefix(last[2], "Retrying with backoff... "):
		w = retryWait{runners.Network, strings.TrimPrefix(last[2], "Retrying with backoff... ")}
	}
	if w.outcome == runners.Failed {
		w.outcome = runners.Provider // it was asking again: the CLI itself did not think the request was at fault
	}
	w.detail = "gave up while its provider failed: " + w.detail
	return w, true
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

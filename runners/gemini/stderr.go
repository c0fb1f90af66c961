package gemini

import (
	"strconv"
	"strings"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

// errorReportPattern is the line on stderr that names the class of the error that the CLI gave up on. It knows more than the
// result, which calls most of them unknown.
var errorReportPattern = pattern.New(`(?m)^Error when talking to Gemini API Full report available at: .*\.json (\w+): (.*)$`)

// errorClass returns the class of the result's error inside the CLI, or "". Failing tools print to stderr too:
// only the last report counts, and only if it speaks of the same error.
func errorClass(stderr, message string) string {
	found := errorReportPattern.FindAllStringSubmatch(stderr, -1)
	if len(found) == 0 {
		return ""
	}
	last := found[len(found)-1]
	if words := strings.TrimSpace(last[2]); words == "" || !strings.Contains(message, words) {
		return ""
	}
	return last[1]
}

// retryPattern is the line on stderr by which the CLI tells that it will ask again.
var retryPattern = pattern.New(`(?m)^Attempt \d+ failed(?: with status (\d+))?(?:: |\. )(.*)$`)

// retried returns the provider's last fault that the CLI is waiting out. It is looked for only when the model has said
// nothing yet: later there may be words of tools on stderr.
func retried(agent *adapter.Stream) (o runners.Outcome, detail string, ok bool) {
	found := retryPattern.FindAllStringSubmatch(stderrEnd(agent.Req), -1)
	if agent.Answered || len(found) == 0 {
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

// stderrEnd returns the end of the CLI's stderr: a report of an error there, with its stack, has some 3 KB.
func stderrEnd(req runners.Request) string { return adapter.End(req.Stderr, adapter.MaxStderr) }

// noisePattern are lines that the CLI begins with, and its traces, which say nothing to a person.
var noisePattern = pattern.New(`(?m)^(?:Warning: (?:Basic terminal|256-color)|YOLO mode is enabled|Ripgrep is not available|\[STARTUP\]|Error authenticating: |\s+(?:at |exitCode: )|\}$).*\n?`)

// exited returns text that says how the CLI ended, with its telling lines: of those before the help page that it prints for
// a wrong flag.
func exited(exit process.Exit, req runners.Request) string {
	words, _, _ := strings.Cut(stderrEnd(req), "\nUsage: gemini ")
	return adapter.ExitWords(exit, noisePattern.ReplaceAllString(words, ""))
}

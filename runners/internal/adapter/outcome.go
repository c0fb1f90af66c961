package adapter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/runners"
	"relay/runners/process"
)

// NoAnswer returns the outcome of an agent that was stopped while it waited for its model.
func NoAnswer(detail string) (runners.Outcome, string) {
	return runners.Network, "no answer from the model: " + detail
}

// EndedBadly returns the outcome of an agent whose process ended badly after its last word.
func EndedBadly(how string) (runners.Outcome, string) {
	return runners.Failed, "it reported an end, but then: " + how
}

// ClaimOutcome returns the outcome of an agent that ended well, from its answer to a question or what FindResult returned.
func ClaimOutcome(req runners.Request, r *runners.Report, badResult error) (runners.Outcome, string) {
	switch {
	case req.Question && r.FinalText == "":
		return runners.NoResult, "it ended without an answer"
	case req.Question:
	case r.Result == nil && badResult == nil:
		return runners.NoResult, "it ended without a result"
	case r.Result == nil:
		return runners.BadResult, runners.OneLine(badResult.Error(), runners.MaxDetail)
	case r.Result.Status == runners.StatusQuestion:
		return runners.Asked, runners.OneLine(strings.Join(r.Result.Questions, " "), runners.MaxDetail)
	case r.Result.Status == runners.StatusFailure:
		return runners.Failed, runners.OneLine(cmp.Or(r.Result.ErrorSummary, r.Result.Summary), runners.MaxDetail)
	}
	return runners.Claimed, ""
}

// LeftBehind describes the processes that an agent started and did not end: a claim made while work still ran is a weak
// one.
func LeftBehind(exit process.Exit) string {
	switch exit.Strays {
	case 0:
		return ""
	case 1:
		return "it left a process running"
	}
	return fmt.Sprintf("it left %d processes running", exit.Strays)
}

// JoinDetail joins the parts of a detail that are not empty, to at most runners.MaxDetail bytes.
func JoinDetail(parts ...string) string {
	joined := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
	return runners.Shorten(joined, runners.MaxDetail)
}

// ExitDetail returns text that says how a process ended that was not well, with the lines it wrote to stderr that say why.
func ExitDetail(exit process.Exit, stderr string) string {
	return ExitWords(exit, End(stderr, MaxStderr))
}

// MaxStderr is how much of the end of what a program says is looked at, in bytes.
const MaxStderr = 64 << 10

// End returns the end of a file, at most limit bytes of it; "" when it cannot be read.
func End(path string, limit int64) string {
	data, err := LastBytes(path, limit)
	if err != nil {
		return ""
	}
	return string(data)
}

// ExitWords is ExitDetail for what a process said. It keeps few words unchanged.
func ExitWords(exit process.Exit, said string) string {
	how := runners.DescribeExit(exit)
	words := plaintext.Line(plaintext.TellingText(strings.ToValidUTF8(said, "?")))
	if len(words) > fewWords {
		words = runners.OneLine(strings.Join(plaintext.TellingLines(said), "; "), runners.MaxDetail-len(how)-2)
	}
	if words == "" {
		return how
	}
	return how + ": " + words
}

// fewWords is how much of what a process says is kept whole, in bytes.
const fewWords = 360

// Unfinished returns the outcome of a CLI that ended without the event that ends its stream; begun says that its first
// one was seen, torn that its last line is half of one.
func Unfinished(req runners.Request, exit process.Exit, begun, torn bool) (runners.Outcome, string) {
	switch {
	case torn && exit.Code == 0: // more was said than has come
		return runners.Truncated, "its output broke off in the middle of a line"
	case begun && signalled(exit):
		return runners.Killed, runners.DescribeExit(exit)
	case begun && exit.Code != 0:
		return runners.Failed, "it ended without a final message: " + ExitDetail(exit, req.Stderr)
	case exit.Code == 0:
		return runners.NoResult, "it ended without a final message"
	case signalled(exit): // the agent cannot have been the cause
		return runners.Provider, "it died before it began: " + ExitDetail(exit, req.Stderr)
	case req.Session != "": // the session is gone
		return runners.NoSession, "cannot resume: " + ExitDetail(exit, req.Stderr)
	}
	return runners.CannotStart, ExitDetail(exit, req.Stderr)
}

// signalled tells a process that a signal ended, itself or as its wrapper tells it: 128 and the signal's number, here
// of HUP, INT, KILL and TERM.
func signalled(exit process.Exit) bool {
	switch exit.Code {
	case 128 + 1, 128 + 2, 128 + 9, 128 + 15:
		return true
	}
	return exit.Signal != "" || exit.Code < 0
}

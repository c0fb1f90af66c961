package runners

import (
	"fmt"
	"slices"
	"strings"

	"relay/runners/internal/cleantext"
	"relay/runners/process"
)

func noAnswer(detail string) (Outcome, string) { return Network, "no answer from the model: " + detail }

func answered(text string) (Outcome, string) {
	if text == "" {
		return NoResult, "it ended without an answer"
	}
	return Claimed, ""
}

// claimed is the outcome of an agent that ended well, from what claim found.
func claimed(result *Result, err error) (Outcome, string) {
	switch {
	case result == nil && err == nil:
		return NoResult, "it ended without a result"
	case result == nil:
		return BadResult, cleantext.OneLine(err.Error(), cleantext.MaxDetail)
	case result.Status == StatusFailure:
		return Failed, cleantext.OneLine(failureText(result), cleantext.MaxDetail)
	}
	return Claimed, ""
}

// failureText returns the agent's own account of its failure.
func failureText(r *Result) string {
	if r.ErrorSummary != "" {
		return r.ErrorSummary
	}
	return r.Summary
}

// leftBehind tells of what an agent started and did not end: a claim made while work still ran is a weak one.
func leftBehind(exit process.Exit) string {
	switch exit.Strays {
	case 0:
		return ""
	case 1:
		return "it left a process running"
	}
	return fmt.Sprintf("it left %d processes running", exit.Strays)
}

func joinDetail(parts ...string) string {
	joined := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
	return cleantext.Shorten(joined, cleantext.MaxDetail)
}

// exitDetail says how a process ended that was not well, with the last words it wrote to stderr.
func exitDetail(exit process.Exit, stderr string) string {
	how := HowEnded(exit)
	last, err := lastBytes(stderr, 2<<10)
	if err != nil || len(last) == 0 {
		return how
	}
	words := cleantext.OneLine(cleantext.CleanEnd(last, 2<<10), 4<<10)
	if room := cleantext.MaxDetail - len(how) - 2; len(words) > room {
		words = cleantext.LastWords(words, room)
	}
	return how + ": " + words
}

// unfinished is the outcome of a CLI that ended without the event that ends its stream; begun says that its first one
// was seen, torn that its last line is half of one.
func unfinished(req Request, exit process.Exit, begun, torn bool) (Outcome, string) {
	switch {
	case torn && exit.Code == 0: // more was said than has come
		return Truncated, "its output broke off in the middle of a line"
	case begun && signalled(exit):
		return Killed, HowEnded(exit)
	case begun && exit.Code != 0:
		return Failed, "it ended without a final message: " + exitDetail(exit, req.Stderr)
	case exit.Code == 0:
		return NoResult, "it ended without a final message"
	case signalled(exit): // the agent cannot have been the cause
		return Provider, "it died before it began: " + exitDetail(exit, req.Stderr)
	case req.Session != "": // the session is gone
		return NoSession, "cannot resume: " + exitDetail(exit, req.Stderr)
	}
	return CannotStart, exitDetail(exit, req.Stderr)
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

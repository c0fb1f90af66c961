package runners

import "relay/runners/process"

// unfinished is the outcome of a CLI that ended without the event that ends its stream; begun says that its first one
// was seen, torn that its last line is half of one.
func (req Request) unfinished(exit process.Exit, begun, torn bool) (Outcome, string) {
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

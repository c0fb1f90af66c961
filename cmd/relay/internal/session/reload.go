package session

import (
	"errors"
	"fmt"
	"os"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/text"
)

// AskReload sends the signal to reload to the run that h describes. It fails when that run is over, on another machine or another user's,
// or this system has no such signal. A process that has got the same pid since is not signalled.
func AskReload(h *attempts.Holder) error {
	run, err := os.FindProcess(h.PID) // before it is looked at: what is found stays the same process
	if err != nil {
		return project.ErrNoRun()
	}
	defer func() { _ = run.Release() }()
	if !h.Reachable() {
		return &exit.Hinted{
			Err:  fmt.Errorf("the run is %s, which cannot be reached from here", exit.HolderText(h)),
			Hint: "type relay reload on " + text.Line(h.Host, 80) + "\nor stop the run there, and relay work goes on with the new plan",
		}
	}
	reload, _ := userSignals()
	return signalError(h, send(run, reload))
}

// send sends a signal that not every system has.
func send(run *os.Process, sig os.Signal) error {
	if sig == nil {
		return errors.ErrUnsupported
	}
	return run.Signal(sig)
}

// signalError returns the error for the user of a run that could not be told, nil when err is.
func signalError(h *attempts.Holder, err error) error {
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return project.ErrNoRun()
	case errors.Is(err, errors.ErrUnsupported):
		return &exit.Hinted{
			Err:  errors.New("a run on this system cannot be told to reload"),
			Hint: "stop it with Ctrl-C, then relay work goes on with the new plan; nothing is lost",
		}
	case errors.Is(err, os.ErrPermission):
		return &exit.Hinted{Err: fmt.Errorf("process %d is another user's", h.PID), Hint: "ask the user who started that run to type relay reload"}
	case err != nil:
		return fmt.Errorf("tell process %d: %w", h.PID, err)
	}
	return nil
}

package exit

import (
	"fmt"
	"os"
	"syscall"

	"relay/orchestrator"
	"relay/orchestrator/ending"
)

// OfRun returns the exit code of a run: of the error it ended with, else of its summary. sig is the signal that ended it, or nil.
func OfRun(s ending.Summary, err error, sig os.Signal) int {
	switch {
	case err != nil:
		return Diagnose(err).Code
	case s.Reason == ending.Interrupted:
		return OfSignal(sig)
	case s.Reason == ending.Reload: // the next run says
		return OK
	case s.Reason == ending.Deadline, s.Reason == ending.BudgetExhausted:
		return Stopped
	case s.Reason == ending.DiskFloor, s.Reason == ending.MemoryFloor: // the machine's fault
		return Failure
	case s.Left > 0, s.Reason == ending.EpicRefused, s.Reason == ending.EpicUnjudged,
		s.Reason == ending.EpicUndone, s.Reason == ending.EpicDoubtful:
		return Gated
	}
	return OK
}

// OfSignal returns the exit code of a run that INT or TERM ended.
func OfSignal(sig os.Signal) int {
	if sig == syscall.SIGTERM {
		return Terminated
	}
	return Interrupted
}

// ErrTerminated is the cause of a run that was stopped by TERM rather than INT.
var ErrTerminated = fmt.Errorf("%w by TERM", orchestrator.ErrInterrupted)

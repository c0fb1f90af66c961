package exit

import (
	"fmt"
	"os"
	"syscall"

	"relay/orchestrator"
)

// OfRun returns the exit code of a run: of the error it ended with, else of its summary. sig is the signal that ended it, or nil.
func OfRun(s orchestrator.Summary, err error, sig os.Signal) int {
	switch {
	case err != nil:
		return Diagnose(err).Code
	case s.Reason == orchestrator.Interrupted:
		return OfSignal(sig)
	case s.Reason == orchestrator.Reload: // the next run says
		return OK
	case s.Reason == orchestrator.Deadline, s.Reason == orchestrator.BudgetExhausted:
		return Stopped
	case s.Reason == orchestrator.DiskFloor, s.Reason == orchestrator.MemoryFloor: // the machine's fault
		return Failure
	case s.Left > 0, s.Reason == orchestrator.EpicRefused, s.Reason == orchestrator.EpicUnjudged, s.Reason == orchestrator.EpicUndone, s.Reason == orchestrator.EpicDoubtful:
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

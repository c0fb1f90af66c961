package session

import (
	"errors"
	"os"
)

// isReload reports the signal with which relay reload tells a run. There is none on Windows.
func isReload(os.Signal) bool { return false }

func reloadSignals() []os.Signal { return nil }

func sendReload(*os.Process) error { return errors.ErrUnsupported }

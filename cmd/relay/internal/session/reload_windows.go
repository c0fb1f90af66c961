package session

import (
	"errors"
	"os"
)

// isReload reports the signal with which relay reload tells a run. There is none on Windows.
func isReload(os.Signal) bool { return false }

func reloadSignals() []os.Signal { return nil }

func sendReload(*os.Process) error { return errors.ErrUnsupported }

// isRequest reports the signal that tells a run to look for requests. There is none on Windows.
func isRequest(os.Signal) bool { return false }

func requestSignals() []os.Signal { return nil }

func sendRequest(*os.Process) error { return errors.ErrUnsupported }

// probe does nothing: a process that is gone cannot be found.
func probe(*os.Process) error { return nil }

//go:build unix

package session

import (
	"os"
	"syscall"
)

// isReload reports the signal with which relay reload tells a run.
func isReload(sig os.Signal) bool { return sig == syscall.SIGUSR1 }

// reloadSignals returns what a run listens to besides.
func reloadSignals() []os.Signal { return []os.Signal{syscall.SIGUSR1} }

func sendReload(run *os.Process) error { return run.Signal(syscall.SIGUSR1) }

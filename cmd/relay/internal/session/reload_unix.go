//go:build unix

package session

import (
	"os"
	"syscall"
)

// userSignals returns the signal of relay reload, and the one that tells a run to look for requests.
func userSignals() (reload, request os.Signal) { return syscall.SIGUSR1, syscall.SIGUSR2 }

// probe fails with [os.ErrProcessDone] when there is no such process.
func probe(p *os.Process) error { return p.Signal(syscall.Signal(0)) }

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

// isRequest reports the signal that tells a run to look for requests.
func isRequest(sig os.Signal) bool { return sig == syscall.SIGUSR2 }

// requestSignals returns what a run that takes requests listens to.
func requestSignals() []os.Signal { return []os.Signal{syscall.SIGUSR2} }

func sendRequest(run *os.Process) error { return run.Signal(syscall.SIGUSR2) }

// probe fails with [os.ErrProcessDone] when there is no such process.
func probe(p *os.Process) error { return p.Signal(syscall.Signal(0)) }

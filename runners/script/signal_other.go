//go:build !unix

package script

import "os/exec"

// detach does nothing where there are no sessions to leave.
func detach(*exec.Cmd) {}

// signalSelf ends the session with a status of its own where there are no signals.
func signalSelf(name string) error { return &endError{code: 128, message: "signal " + name} }

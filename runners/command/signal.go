package command

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// detach starts a process in a session of its own, out of reach of a signal to the agent's group.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

var signals = map[string]syscall.Signal{
	"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT,
	"SEGV": syscall.SIGSEGV, "ABRT": syscall.SIGABRT, "HUP": syscall.SIGHUP,
}

// signalSelf ends this process by a signal, and waits for it to arrive.
func signalSelf(name string) error {
	if err := syscall.Kill(os.Getpid(), signals[name]); err != nil {
		return err
	}
	<-time.After(5 * time.Second)
	return fmt.Errorf("signal %s did not end it", name)
}

//go:build unix

package reanchor

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// isolate gives git a session of its own: no terminal to ask on, and a group that can be stopped as a whole. The
// function it returns is called when the command has ended.
func isolate(cmd *exec.Cmd) (settled func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var kill *time.Timer
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		// While the group has a member its number is not given to another, and without one Run has returned.
		kill = time.AfterFunc(callGrace, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		if err := syscall.Kill(group, syscall.SIGTERM); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	return func() {
		if kill != nil {
			kill.Stop()
		}
	}
}

// runnable reports whether git would run a hook.
func runnable(info os.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }

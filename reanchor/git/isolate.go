package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// isolate gives git a group of its own, which can be stopped as a whole and does not hear a Ctrl-C meant for relay. With
// terminal false it is a session of its own, too, so that not even /dev/tty can be asked; that is not for every call,
// because Linux schedules a fresh session so late on a busy machine that git takes twice as long. The function it
// returns is called when the command has ended.
func isolate(cmd *exec.Cmd, terminal bool) (settled func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: terminal, Setsid: !terminal}
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

package reanchor

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate keeps git from a console of the caller. There is no polite stop here: the process is ended at once.
func isolate(cmd *exec.Cmd, _ bool) (settled func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	return func() {}
}

// runnable reports whether git would run a hook: here there is no permission for it.
func runnable(os.FileInfo) bool { return true }

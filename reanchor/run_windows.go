package reanchor

import (
	"os/exec"
	"syscall"
)

// isolate keeps git from a console of the caller. There is no polite stop here: the process is ended at once.
func isolate(cmd *exec.Cmd) (settled func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	return func() {}
}

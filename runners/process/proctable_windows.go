package process

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Platform facts of Windows.
const (
	noFollow    = 0
	slashes     = `/\:`
	executeBits = 0
)

// killedCode is the exit status of what TerminateJobObject ended.
const killedCode = 137

func sameVariable(key, name string) bool { return strings.EqualFold(key, name) }

func openFile(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o600) }

// endings returns those that PATHEXT allows; a name that has one already is taken as it is.
func (cmd Command) endings(path string) []string {
	known := cmd.variable("PATHEXT")
	if known == "" {
		known = ".com;.exe;.bat;.cmd"
	}
	list := strings.Split(strings.ToLower(known), ";")
	for _, ending := range list {
		if ending != "" && strings.HasSuffix(strings.ToLower(path), ending) {
			return []string{""}
		}
	}
	return list
}

// startInfo holds the job object of the command and everything it starts. Its last handle is ours: when this process
// ends, whatever the way, the system ends the job.
type startInfo struct{ job, process windows.Handle }

// procTable is empty: the system records which processes belong to a job.
type procTable struct{}

var theProcTable = sync.OnceValue(func() *procTable { return &procTable{} })

// launch starts the program of c suspended, so that it cannot start anything before it is in its job.
func (k *procTable) launch(c *child, path string, attr *os.ProcAttr) error {
	job, err := newJob()
	if err != nil {
		return err
	}
	attr.Sys = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED}
	c.began = time.Now()
	proc, err := os.StartProcess(path, c.cmd.Argv, attr)
	if err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	process, err := enter(job, proc.Pid)
	if err != nil {
		_ = proc.Kill()
		_, _ = proc.Wait()
		_ = windows.CloseHandle(job)
		return err
	}
	c.proc, c.pid, c.startInfo = proc, proc.Pid, startInfo{job: job, process: process}
	return nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create job: %w", err)
	}
	var limit windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limit.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("limit job: %w", err)
	}
	return job, nil
}

// enter puts a suspended process into the job and lets it run.
func enter(job windows.Handle, pid int) (windows.Handle, error) {
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_SUSPEND_RESUME | windows.SYNCHRONIZE
	process, err := windows.OpenProcess(access, false, uint32(pid))
	if err != nil {
		return 0, fmt.Errorf("open process: %w", err)
	}
	if err := windows.AssignProcessToJobObject(job, process); err != nil {
		_ = windows.CloseHandle(process)
		return 0, fmt.Errorf("assign to job: %w", err)
	}
	resume := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")
	if err := resume.Find(); err != nil {
		_ = windows.CloseHandle(process)
		return 0, err
	}
	if status, _, _ := resume.Call(uintptr(process)); status != 0 {
		_ = windows.CloseHandle(process)
		return 0, fmt.Errorf("resume process: status %#x", status)
	}
	return process, nil
}

func (k *procTable) launchGuardian(argv []string, attr *os.ProcAttr) (*os.Process, error) {
	attr.Sys = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return os.StartProcess(argv[0], argv, attr)
}

func (k *procTable) guardianGone(int) {}

func (k *procTable) markGuardian() {}

func resumeGuardian(*os.Process) {}

func (c *child) awaitDeath() {
	_, _ = windows.WaitForSingleObject(c.startInfo.process, windows.INFINITE)
}

// ask sends Ctrl-Break, the only polite word that reaches a group. Who has no console does not hear it.
func (k *procTable) ask(c *child) {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.pid))
}

func (k *procTable) killGroup(c *child) { _ = windows.TerminateJobObject(c.startInfo.job, killedCode) }

func (k *procTable) remind(c *child, _ bool) bool { return living(c.startInfo.job) > 0 }

// bury ends what is left of c in its job.
func (k *procTable) bury(c *child) (Exit, int) {
	strays := living(c.startInfo.job)
	k.killGroup(c)
	limit := time.Now().Add(held)
	for pause := time.Millisecond; living(c.startInfo.job) > 0 && time.Now().Before(limit); pause = min(2*pause, 20*time.Millisecond) {
		time.Sleep(pause)
	}
	state, err := c.proc.Wait()
	_ = windows.CloseHandle(c.startInfo.process)
	_ = windows.CloseHandle(c.startInfo.job)
	if err != nil {
		return Exit{Code: -1, Lost: true}, strays
	}
	if c.killed.Load() && state.ExitCode() == killedCode {
		return Exit{Code: -1, Signal: "KILL"}, strays
	}
	return Exit{Code: state.ExitCode()}, strays
}

// living returns the number of processes in a job.
func living(job windows.Handle) int {
	var info struct { // JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
		userTime, kernelTime, periodUserTime, periodKernelTime int64
		pageFaults, total, active, terminated                  uint32
	}
	err := windows.QueryInformationJobObject(job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0
	}
	return int(info.active)
}

func (k *procTable) reapAdopted() {}

// reclaim does nothing: the jobs ended with the guardian.
func (k *procTable) reclaim(time.Duration, map[string]bool) {}

func (k *procTable) sweep(func(string) bool, time.Duration, time.Duration, <-chan struct{}) int {
	return 0
}

// Origin reports every process as started by this one.
func Origin(int) (mark string, started bool) { return "", true }

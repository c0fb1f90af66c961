package durable

import "golang.org/x/sys/unix"

// startOf returns when a process began, which tells it from later ones with the same pid: in microseconds since 1970.
// It is 0 when there is no such process.
func startOf(pid int) uint64 {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return 0
	}
	start := info.Proc.P_starttime
	return uint64(start.Sec)*1_000_000 + uint64(start.Usec)
}

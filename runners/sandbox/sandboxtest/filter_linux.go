// Package sandboxtest makes kinds of hosts for tests.
package sandboxtest

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Filter refuses namespaces to this process and its children, as containers do, and with landlock also Landlock, as if the kernel had none.
func Filter(landlock bool) {
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWUTS
	step := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
	}
	refuse := func(errno unix.Errno) unix.SockFilter {
		return step(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno), 0, 0)
	}
	const equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	from := uint32(1 << 20)
	if landlock {
		from = unix.SYS_LANDLOCK_CREATE_RULESET
	}
	program := []unix.SockFilter{
		step(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, 0),
		step(equal, unix.SYS_UNSHARE, 6, 0),
		step(equal, unix.SYS_CLONE3, 6, 0),
		step(equal, from, 5, 0),
		step(equal, unix.SYS_CLONE, 0, 2),
		step(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 16, 0, 0),
		step(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 1, 0),
		step(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0),
		refuse(unix.EPERM),
		refuse(unix.ENOSYS),
	}
	runtime.LockOSThread()
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	const set, allThreads = 1, 1
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, set, allThreads, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		panic(errno)
	}
}

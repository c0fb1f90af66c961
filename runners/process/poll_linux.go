package process

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// pollDeath waits for the death of pid without holding a thread, which would have to be woken before anything else can
// be done about it, and reports whether it could.
func pollDeath(pid int) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return false
	}
	file := os.NewFile(uintptr(fd), "process")
	defer file.Close()
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	var info unix.Siginfo
	err = conn.Read(func(fd uintptr) (dead bool) {
		err := retry(func() error {
			return unix.Waitid(unix.P_PIDFD, int(fd), &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		})
		return err != nil || info.Signo != 0
	})
	return err == nil && info.Signo != 0
}

// pollable returns r as a file that is waited for without a thread, if r is a pipe.
func pollable(r io.Reader) io.Reader {
	f, ok := r.(*os.File)
	if !ok {
		return r
	}
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return r
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return r
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return r
	}
	return os.NewFile(uintptr(fd), f.Name())
}

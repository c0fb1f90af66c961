package session

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// Of returns the process at the other end of a socket: the one that connected, or that began to listen.
func Of(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) { pid, err = unix.GetsockoptInt(int(fd), level, option) })
	return pid, errors.Join(failed, err)
}

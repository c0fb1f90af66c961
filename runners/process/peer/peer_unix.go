//go:build unix

package peer

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// Known says that Of works on this system.
const Known = true

// Of returns the process at the other end of a socket: the one that connected, or that began to listen.
func Of(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) { pid, err = unix.GetsockoptInt(int(fd), level, option) })
	return pid, errors.Join(failed, err)
}

// Package peer names the process at the other end of a unix socket.
package peer

import "golang.org/x/sys/unix"

func ask(fd int) (pid int, err error) { return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID) }

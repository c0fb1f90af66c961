// Package peer names the process at the other end of a unix socket.
package peer

import "golang.org/x/sys/unix"

func ask(fd int) (pid int, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}

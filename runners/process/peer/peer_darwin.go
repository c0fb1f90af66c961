// Package peer names the process at the other end of a unix socket.
package peer

import "golang.org/x/sys/unix"

const level, option = unix.SOL_LOCAL, unix.LOCAL_PEERPID

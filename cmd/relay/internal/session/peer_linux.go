package session

import "golang.org/x/sys/unix"

// The first number of what the system says of a peer is the process.
const level, option = unix.SOL_SOCKET, unix.SO_PEERCRED

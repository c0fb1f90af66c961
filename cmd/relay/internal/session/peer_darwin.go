package session

import "golang.org/x/sys/unix"

const level, option = unix.SOL_LOCAL, unix.LOCAL_PEERPID

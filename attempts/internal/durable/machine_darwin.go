package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// machineID returns "": no file names the machine.
func machineID() string { return "" }

// onlyHere reports whether a file is on a file system that no other machine uses.
func onlyHere(f *os.File) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && st.Flags&unix.MNT_LOCAL != 0
}

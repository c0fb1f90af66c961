package durable

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// machineID names this machine, whatever it is called and however often it has started; "": it has no name. The system's own id is
// confidential, so it is a hash of that.
func machineID() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil || len(id) < 32 {
		return ""
	}
	sum := sha256.Sum256(append([]byte("relay "), id[:32]...))
	return hex.EncodeToString(sum[:8])
}

// ownTypes are the types of file systems that one machine has for itself.
var ownTypes = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
	0x2fc12fc1, // ZFS
}

// onlyHere reports whether a file is on a file system that no other machine uses.
func onlyHere(f *os.File) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && slices.Contains(ownTypes, int64(st.Type))
}

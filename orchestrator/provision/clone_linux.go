package provision

import (
	"os"

	"golang.org/x/sys/unix"
)

// clone makes dst a file that shares the blocks of src until one of them is written, where the file system can.
func clone(dst, src *os.File) error { return unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())) }

// statOf describes an entry; ok is false if it cannot.
func statOf(path string) (s stat, ok bool) {
	var u unix.Stat_t
	if unix.Lstat(path, &u) != nil {
		return s, false
	}
	s = stat{mode: u.Mode, user: u.Uid, group: u.Gid, inode: u.Ino}
	if u.Mode&unix.S_IFMT != unix.S_IFDIR {
		s.size, s.written, s.ctime = u.Size, u.Mtim.Nano(), u.Ctim.Nano()
	} else if n, err := unix.Llistxattr(path, nil); err == nil {
		s.size = int64(n) // default access lists among them change the modes of new files
	}
	return s, true
}

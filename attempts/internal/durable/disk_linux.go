package durable

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// syncData skips the inode's times, which are not needed after a crash; the size is synced with the bytes.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}

func fillStamp(s *Stamp, info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Links = st.Dev, st.Ino, uint64(st.Nlink)
		s.Changed = time.Unix(st.Ctim.Unix())
	}
}

package durable

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// syncData flushes a file to the disk: on darwin os.File.Sync flushes the drive's cache as well.
func syncData(f *os.File) error { return f.Sync() }

func fillStamp(s *Stamp, info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Links = uint64(st.Dev), st.Ino, uint64(st.Nlink)
		s.Changed = time.Unix(st.Ctimespec.Unix())
	}
}

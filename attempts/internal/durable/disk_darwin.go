package durable

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// syncData is a full flush: on darwin os.File.Sync asks the drive itself.
func syncData(f *os.File) error { return f.Sync() }

func fillStamp(s *Stamp, info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Links = uint64(st.Dev), st.Ino, uint64(st.Nlink)
		s.Changed = time.Unix(st.Ctimespec.Unix())
	}
}

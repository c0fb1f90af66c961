package durable_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"relay/attempts/internal/durable"
)

// A process that is just being started holds copies of all open files for a moment. A lock that is let go is free all
// the same.
func TestLockIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	d := disk(t)
	me := durable.Holder{PID: 1, Host: "here", Boot: "b1"}
	for range 2 {
		l, err := durable.Acquire(d, "lock", me)
		must(t, err)
		copied(t, filepath.Join(d.Path(), "lock"))
		must(t, l.Release())
	}
}

// copied makes a copy of what this process has open under a path.
func copied(t *testing.T, path string) {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	must(t, err)
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, entry := range open {
		if to, err := os.Readlink("/proc/self/fd/" + entry.Name()); err != nil || to != path {
			continue
		}
		fd, err := strconv.Atoi(entry.Name())
		must(t, err)
		again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		must(t, err)
		t.Cleanup(func() { _ = unix.Close(again) })
	}
}

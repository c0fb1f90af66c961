package durable

import (
	"errors"
	"os"
	"testing"
	"time"
)

// A lock file that other users can open does not keep relay out when somebody who is no relay holds it.
func TestLockOfAnotherUser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		mode os.FileMode
		text string
		held bool
	}{
		{"of an older relay", 0o644, "", false},
		{"our own", 0o600, "", true},
		{"of a relay that lives", 0o644, "alive", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			disk, err := OpenDisk(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer disk.Close()
			theirs, err := disk.OpenFile("lock", os.O_RDWR|os.O_CREATE, c.mode)
			if err != nil {
				t.Fatal(err)
			}
			defer theirs.Close()
			if c.text != "" {
				l := &Lock{fsys: disk, name: "lock", f: theirs, me: Here(time.Now())}
				if err := l.write(); err != nil {
					t.Fatal(err)
				}
			}
			if ok, err := theirs.TryLock(true); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if s, err := InspectLock(disk, "lock"); s.Held != c.held || err != nil {
				t.Errorf("InspectLock says %+v, %v", s, err)
			}
			l, err := Acquire(disk, "lock", Here(time.Now()))
			var held *HeldError
			if errors.As(err, &held) != c.held || (err == nil) == c.held {
				t.Fatalf("got %v, want it held: %v", err, c.held)
			}
			if err == nil {
				if info, err := disk.Lstat("lock"); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("the lock is %v, %v", info.Mode(), err)
				}
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

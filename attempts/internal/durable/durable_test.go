package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"relay/attempts/internal/durable"
	"relay/attempts/internal/durable/simdisk"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func disk(t *testing.T) *durable.Disk {
	t.Helper()
	d, err := durable.OpenDisk(t.TempDir())
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// slowDisk holds every sync back until told, and counts them.
type slowDisk struct {
	durable.FS
	syncs atomic.Int32
	gate  chan struct{}
}

type slowFile struct {
	durable.File
	d *slowDisk
}

func (d *slowDisk) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	return slowFile{f, d}, err
}

func (f slowFile) Sync() error {
	if f.d.gate != nil {
		f.d.syncs.Add(1)
		<-f.d.gate
	}
	return f.File.Sync()
}

// Those who write while a sync is under way share the next one.
func TestWritersShareASync(t *testing.T) {
	t.Parallel()
	d := &slowDisk{FS: simdisk.New()}
	l, err := durable.OpenLog(d, "log", nil)
	must(t, err)
	d.gate = make(chan struct{})
	var wg sync.WaitGroup
	must(t, l.Write(1, []byte("1\n")))
	first := make(chan struct{})
	wg.Go(func() {
		close(first)
		if err := l.Wait(1); err != nil {
			t.Error(err)
		}
	})
	<-first
	d.gate <- struct{}{} // the first sync is under way, and done when this is taken
	wg.Wait()
	for i := uint64(2); i <= 20; i++ {
		must(t, l.Write(i, fmt.Appendf(nil, "%d\n", i)))
	}
	for i := uint64(2); i <= 20; i++ {
		wg.Go(func() {
			if err := l.Wait(i); err != nil {
				t.Error(err)
			}
		})
	}
	d.gate <- struct{}{}
	wg.Wait()
	if got := d.syncs.Load(); got != 2 {
		t.Errorf("got %d syncs, want 2", got)
	}
	if l.Synced() != 20 {
		t.Errorf("got %d, want 20", l.Synced())
	}
}

// A sync that failed is not tried again, and nobody is told that their bytes are safe.
func TestFailedSyncIsFinal(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	syncs := 0
	l, err := durable.OpenLog(simdisk.New(), "log", func(point string) error {
		if point == durable.AfterSync {
			syncs++
			return boom
		}
		return nil
	})
	must(t, err)
	must(t, l.Write(1, []byte("1\n")))
	first := l.Wait(1)
	if !errors.Is(first, boom) {
		t.Fatalf("got %v", first)
	}
	for _, err := range []error{l.Wait(1), l.Write(2, []byte("2\n")), l.Wait(2), l.Reopen(simdisk.New(), nil)} {
		if !errors.Is(err, first) {
			t.Errorf("got %v, want %v", err, first)
		}
	}
	if syncs != 1 || l.Synced() != 0 {
		t.Errorf("got %d syncs, mark %d", syncs, l.Synced())
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	d := disk(t)
	put := func(text string, before func() error) error {
		return durable.Replace(d, "file", nil, durable.Content{Before: before, Write: func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}})
	}
	must(t, put("one", nil))
	no := errors.New("no")
	if err := put("two", func() error { return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	got, err := os.ReadFile(filepath.Join(d.Path(), "file"))
	if err != nil || string(got) != "one" {
		t.Errorf("got %q, %v", got, err)
	}
	must(t, os.WriteFile(filepath.Join(d.Path(), "file.relay-tmp"), nil, 0o644))
	must(t, durable.RemoveTemps(d, "."))
	entries, err := d.ReadDir(".")
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v", entries, err)
	}
}

// A link that leads out is never followed, and a named pipe never blocks.
func TestOnlyRegularFilesInside(t *testing.T) {
	t.Parallel()
	d := disk(t)
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("x"), 0o644))
	must(t, os.Symlink(outside, filepath.Join(d.Path(), "link")))
	must(t, os.Symlink(filepath.Dir(outside), filepath.Join(d.Path(), "dir")))
	for _, name := range []string{"link", "dir/outside", "dir", "../x", "/etc/passwd"} {
		if f, err := durable.Regular(d, name, os.O_RDWR); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
		if l, err := durable.OpenLog(d, name, nil); err == nil {
			l.Close()
			t.Errorf("%s was opened as a log", name)
		}
	}
	if err := durable.MkdirAll(d, "dir/new"); err == nil {
		t.Error("a folder was made outside")
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	d := disk(t)
	me := durable.Holder{PID: 1, Host: "here", Boot: "b1", Epic: "e", Since: time.Unix(1, 0).UTC()}
	l, err := durable.Acquire(d, "lock", me)
	must(t, err)
	var held *durable.HeldError
	if _, err := durable.Acquire(d, "lock", me); !errors.As(err, &held) || held.Holder != me || held.Foreign {
		t.Errorf("got %v", err)
	}
	if s, err := durable.InspectLock(d, "lock"); s.Holder != me || !s.Held || err != nil {
		t.Errorf("got %v, %v", s, err)
	}
	must(t, l.Release())
	if s, err := durable.InspectLock(d, "lock"); s.Holder.PID != 0 || s.Held || err != nil {
		t.Errorf("got %v, %v", s, err)
	}
}

// What a killed process leaves in the lock file is no obstacle, unless another host wrote it.
func TestLockLeftBehind(t *testing.T) {
	t.Parallel()
	me := durable.Holder{PID: 1, Host: "here", Boot: "b1", Machine: "m1"}
	for text, foreign := range map[string]bool{
		"":                                     false,
		"garbage":                              false,
		`{"pid":7,"host":"here","boot":"b0"}`:  false,
		`{"pid":7,"host":"other","boot":"b1"}`: false, // another container of this machine
		`{"pid":7,"host":"other","boot":"b2","machine":"m1"}`: false, // this machine, with another name since it started again
		`{"pid":7,"host":"other","boot":"b2","machine":"m2"}`: true,
		`{"pid":7,"host":"here","boot":"b2","machine":"m2"}`:  false,
		`{"pid":7,"host":"other","epic":"x"}`:                 true, // of an older relay
	} {
		d := disk(t)
		must(t, os.WriteFile(filepath.Join(d.Path(), "lock"), []byte(text), 0o644))
		l, err := durable.Acquire(d, "lock", me)
		var held *durable.HeldError
		if foreign != (errors.As(err, &held) && held.Foreign) || !foreign && err != nil {
			t.Errorf("%s: got %v", text, err)
		}
		if l != nil {
			must(t, l.Release())
		}
	}
}

// A pid is somebody else's when it began at another time, or under another start of the system, or elsewhere.
func TestHolderReachable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(h *durable.Holder)
		want   bool
	}{
		"we":            {func(*durable.Holder) {}, true},
		"no pid":        {func(h *durable.Holder) { h.PID = 0 }, false},
		"another start": {func(h *durable.Holder) { h.Start++ }, false},
		"another boot":  {func(h *durable.Holder) { h.Boot += "x" }, false},
		"another host":  {func(h *durable.Holder) { h.Host += "x" }, false},
	} {
		h := durable.Here(time.Now())
		c.change(&h)
		if h.Reachable() != c.want {
			t.Errorf("%s: reachable is %v", name, !c.want)
		}
	}
	if h := durable.Here(time.Now()); runtime.GOOS == "linux" && h.Start == 0 {
		t.Error("a start is not known")
	}
}

func TestReserve(t *testing.T) {
	t.Parallel()
	d := disk(t)
	for range 2 {
		must(t, durable.Reserve(d, "reserve"))
		info, err := d.Lstat("reserve")
		if err != nil || info.Size() != durable.ReserveSize {
			t.Errorf("got %v, %v", info, err)
		}
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	d := disk(t)
	for _, size := range []int{0, 10, 300 << 10} {
		text := bytes.Repeat([]byte("0123456789"), size/10)
		must(t, os.WriteFile(filepath.Join(d.Path(), "log"), text, 0o644))
		c := durable.NewCopy("log")
		for part := text; len(part) > 0; {
			n := min(len(part), 999)
			_, _ = c.Write(part[:n])
			part = part[n:]
		}
		var again bytes.Buffer
		must(t, c.Emit(&again))
		if !bytes.Equal(again.Bytes(), text) || !c.Same(d) {
			t.Errorf("%d bytes: the copy is not the log", size)
		}
		must(t, c.Finish(d))
		must(t, os.WriteFile(filepath.Join(d.Path(), "log"), append(text, 'x'), 0o644))
		if c.Same(d) {
			t.Errorf("%d bytes: a change is not seen", size)
		}
		changed, err := c.PutBack(d)
		if got, _ := os.ReadFile(filepath.Join(d.Path(), "log")); err != nil || !changed || !bytes.Equal(got, text) {
			t.Errorf("%d bytes: got %d bytes, %v, %v", size, len(got), changed, err)
		}
	}
}

func TestMoved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a")
	must(t, os.Mkdir(dir, 0o755))
	d, err := durable.OpenDisk(dir)
	must(t, err)
	if d.Moved() {
		t.Error("it has not moved")
	}
	must(t, os.Rename(dir, dir+"2"))
	if !d.Moved() {
		t.Error("it has moved")
	}
	next, err := d.Recreate()
	must(t, err)
	if next.Moved() {
		t.Error("it is there again")
	}
	must(t, errors.Join(d.Close(), next.Close()))
}

package adapter

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/runners"
)

// TestTimes holds what is written of when a stream was seen: at most one line a second, its end, and nothing of an output that was
// there before.
func TestTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stdout := filepath.Join(dir, runners.Transcript)
	path := filepath.Join(dir, runners.TimesFile)
	for _, err := range []error{os.WriteFile(stdout, nil, 0o600), os.WriteFile(path, []byte("7 7\n"), 0o600)} { // made for it, and left by another
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.UnixMilli(1_000_000)
	openTimes(stdout, func() time.Time { return now }).end(0)
	s := openTimes(stdout, func() time.Time { return now })
	for _, step := range []struct {
		after time.Duration
		size  int64
		wait  time.Duration
	}{
		{0, 10, 0},
		{300 * time.Millisecond, 20, 700 * time.Millisecond},
		{time.Millisecond, 20, 699 * time.Millisecond},
		{699 * time.Millisecond, 25, 0},
		{time.Hour, 25, 0},
	} {
		now = now.Add(step.after)
		if got := s.saw(step.size); got != step.wait {
			t.Errorf("at %d bytes: waits %s, want %s", step.size, got, step.wait)
		}
	}
	s.end(30)
	if err := os.WriteFile(stdout, []byte("something"), 0o600); err != nil {
		t.Fatal(err)
	}
	openTimes(stdout, func() time.Time { return now.Add(time.Hour) }).end(30) // read once more
	text, err := os.ReadFile(path)
	if want := "10 1000000\n25 1001000\n30 4601000\n"; err != nil || string(text) != want {
		t.Errorf("got %q, %v; want %q", text, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	openTimes(stdout, time.Now).end(30)
	if _, err := os.Lstat(path); err == nil {
		t.Error("an output that was there before has got times")
	}
}

package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/configs"
)

func TestDeadline(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 22, 30, 15, 0, time.Local)
	for text, want := range map[string]time.Time{
		"": {}, "07:00": time.Date(2026, 2, 1, 7, 0, 0, 0, time.Local), "7:00": time.Date(2026, 2, 1, 7, 0, 0, 0, time.Local),
		"22:30": time.Date(2026, 2, 1, 22, 30, 0, 0, time.Local), "22:31": time.Date(2026, 1, 31, 22, 31, 0, 0, time.Local),
		"8h": now.Add(8 * time.Hour), "1h30m": now.Add(90 * time.Minute), "0.5s": now.Add(500 * time.Millisecond),
	} {
		if got, err := Deadline(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %s (%v), want %s", text, got, err, want)
		}
	}
}

func TestAvailableMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want int64
	}{
		"Linux":      {"MemTotal:       16316412 kB\nMemFree:          219000 kB\nMemAvailable:    1048576 kB\n", 1 << 30},
		"an old one": {"MemTotal:       16316412 kB\n", -1},
		"nonsense":   {"MemAvailable: much\n", -1},
		"empty":      {"", -1},
	} {
		path := filepath.Join(t.TempDir(), "meminfo")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := availableMemory(path); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
	if got := availableMemory(filepath.Join(t.TempDir(), "none")); got != -1 {
		t.Errorf("got %d of no file, want -1", got)
	}
}

// However many tasks begin in a second, the disk is looked at once.
func TestGaugeLooksOnceASecond(t *testing.T) {
	t.Parallel()
	at := time.Now()
	p := &Project{Root: t.TempDir(), Dir: t.TempDir(), Config: &configs.Config{}}
	free := FreeGauge(p, "", func() time.Time { return at })
	before := free()
	if before.Disk <= 0 {
		t.Fatalf("got %+v of a disk that can be written to", before)
	}
	if err := os.Remove(p.Dir); err != nil {
		t.Fatal(err)
	}
	if got := free(); got != before {
		t.Errorf("got %+v, and %+v in the same second", before, got)
	}
	if at = at.Add(time.Second); free().Disk >= 0 {
		t.Error("a folder that is gone has room a second later")
	}
}

func TestCheckNight(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, until, now, want string }{
		{"22:00", "07:00", "22:00", ""},
		{"22:00", "07:00", "23:59", ""},
		{"22:00", "07:00", "00:00", ""},
		{"22:00", "07:00", "06:59", ""},
		{"22:00", "07:00", "07:00", "the night is from 22:00 to 07:00"},
		{"22:00", "07:00", "21:59", "the night is from"},
		{"01:00", "05:00", "04:00", ""},
		{"01:00", "05:00", "05:00", "the night is from"},
		{"01:00", "05:00", "00:59", "the night is from"},
		{"22:00", "", "23:00", `not ""`},
		{"22:00", "8h", "23:00", `not "8h"`},
	} {
		now, err := time.ParseInLocation("2006-01-02 15:04", "2026-01-11 "+test.now, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		err = CheckNight(test.from, test.until, now)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

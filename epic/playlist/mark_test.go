package playlist

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMark(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list.yml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2026, 1, 2, 22, 0, 0, 0, time.UTC)
	write("# Nights\nversion: 1\nowner: Ada # kept\nepics:\n  - file: a.yml\n  # the second\n  - file: b.yml\n    failed_at: 2026-01-01T01:00:00Z\n")
	mark := func(list Status, file string, state Status) {
		t.Helper()
		text, err := Mark(path, list, map[string]Status{file: state}, at)
		if err != nil {
			t.Fatal(err)
		}
		write(string(text))
		at = at.Add(time.Minute)
	}
	mark(InProgress, "a.yml", "")
	mark(InProgress, "a.yml", InProgress)
	mark(InProgress, "a.yml", Completed)
	mark(InProgress, "b.yml", InProgress)
	mark(InProgress, "b.yml", Failed)
	mark(InProgress, "c.yml", Failed)
	mark(Failed, "", "")
	want := `# Nights
version: 1
owner: Ada # kept
epics:
  - file: a.yml
    status: completed
    started_at: 2026-01-02T22:01:00Z
    completed_at: 2026-01-02T22:02:00Z
  # the second
  - file: b.yml
    failed_at: 2026-01-02T22:04:00Z
    status: failed
    started_at: 2026-01-02T22:03:00Z
status: failed
started_at: 2026-01-02T22:00:00Z
current: 1
ended_at: 2026-01-02T22:06:00Z
duration_minutes: 6
`
	if got, _ := os.ReadFile(path); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	write("version: 1\nstatus: in_progress\nstarted_at: yesterday\nepics: [{file: a.yml}]\n")
	if text, err := Mark(path, Failed, nil, at); err != nil || strings.Contains(string(text), "duration_minutes") {
		t.Errorf("%v, %s", err, text)
	}
	write("version: 2\n")
	if _, err := Mark(path, Failed, nil, at); err == nil {
		t.Error("a playlist with mistakes was marked")
	}
}

package playlist

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func at(hour int) time.Time { return time.Date(2026, 1, 15, hour, 0, 0, 123, time.FixedZone("", 3600)) }

// finished is what is written at the end of a list whose second epic did not complete.
func finished(l *List) {
	l.Status, l.Current, l.EndedAt, l.DurationMinutes = Failed, 1, at(7), 541.5
	e := &l.Epics[1]
	e.Status, e.StartedAt, e.CompletedAt, e.FailedAt = Failed, at(1), time.Time{}, at(7)
}

// What relay writes into a list changes these lines alone.
func TestEditKeepsTheRest(t *testing.T) {
	t.Parallel()
	src := ancestor(t)
	got, err := Edit("playlist.yml", src, finished)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		`status: "in_progress"`+"\ncurrent: 1", "status: failed\ncurrent: 1",
		"ended_at: null\nduration_minutes: null", `ended_at: "2026-01-15T06:00:00Z"`+"\nduration_minutes: 541.5",
		"completed_at: null\n"+`    owner`, "completed_at: null\n"+`    failed_at: "2026-01-15T06:00:00Z"`+"\n    owner",
		`    status: "in_progress"`+"\n"+`    started_at: "2026-01-14T23:40:12Z"`, "    status: failed\n"+`    started_at: "2026-01-15T00:00:00Z"`,
	).Replace(string(src))
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	same, err := Edit("playlist.yml", got, finished)
	if err != nil || string(same) != string(got) {
		t.Errorf("again: %v\n%s", err, same)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	begin := func(l *List) { l.Status, l.Epics[0].Status = InProgress, InProgress }
	for name, c := range map[string]struct{ src, want string }{
		"new keys": {head + "- file: a.yml", "version: 1\nstatus: in_progress\ncurrent: 0\nepics:\n- file: a.yml\n  status: in_progress\n"},
		"CRLF": {
			"version: 1\r\nepics:\r\n- file: a.yml\r\n",
			"version: 1\r\nstatus: in_progress\r\ncurrent: 0\r\nepics:\r\n- file: a.yml\r\n  status: in_progress\r\n",
		},
		"empty values": {
			"version: 1\nstatus: # now\nepics:\n-  status:\n   file: a.yml\n",
			"version: 1\nstatus: in_progress # now\ncurrent: 0\nepics:\n-  status: in_progress\n   file: a.yml\n",
		},
		"quotes": {
			"version: 1\n'status': 'pending' # é\nepics:\n- {file: a.yml, status: \"pending\"} # b\n",
			"version: 1\n'status': in_progress # é\ncurrent: 0\nepics:\n- {file: a.yml, status: in_progress} # b\n",
		},
		"one line": {
			"{version: 1, epics: [{file: a.yml}]} # c\n",
			"{version: 1, status: in_progress, current: 0, epics: [{file: a.yml, status: in_progress}]} # c\n",
		},
		"value on the next line": {
			head + "- file:\n    a.yml\n  # why\n  status:\n    pending\n",
			"version: 1\nstatus: in_progress\ncurrent: 0\nepics:\n  - file: a.yml\n    # why\n    status: in_progress\n",
		},
	} {
		got, err := Edit("p.yml", []byte(c.src), begin)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
	const shared = "version: 1\nx: &x {status: pending}\nepics:\n- &e\n  file: a.yml\n  status: &s pending\n- file: b.yml\n  status: *s\n"
	_, err := Edit("p.yml", []byte(shared), func(l *List) { l.Epics[0].Status = Completed })
	const want = "p.yml: its values are written in a way that a state cannot be added to: write every epic as a mapping of its own, without anchors"
	if err == nil || err.Error() != want {
		t.Errorf("a value that two epics share: %v", err)
	}
}

// What somebody has written into the file since it was read stays in it.
func TestUpdateReadsAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "a.yml"), "")
	list := filepath.Join(root, "p.yml")
	write(t, list, head+"- file: a.yml\n")
	l, err := Read(root, list)
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	replace := func(path string, text []byte) error {
		writes++
		return os.WriteFile(path, text, 0o644)
	}
	write(t, list, "# by hand\n"+head+"- file: b.yml\n- file: a.yml\n")
	update := func(now *List) {
		now.Epics[1].Status = Completed
	}
	for range 2 {
		if err := l.Update(replace, update); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(list)
	if got, want := string(text), "# by hand\n"+head+"- file: b.yml\n- file: a.yml\n  status: completed\n"; got != want || writes != 1 {
		t.Errorf("%d writes, got\n%s", writes, got)
	}
	write(t, list, "version: 1\n")
	if err := l.Update(replace, update); err == nil || !strings.HasPrefix(err.Error(), "p.yml:1:1: epics is missing") || writes != 1 {
		t.Errorf("a list with mistakes: %v, %d writes", err, writes)
	}
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	if err := l.Update(replace, update); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a list that is gone: %v", err)
	}
}

// A list that is a link stays one.
func TestUpdateFollowsLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "a.yml"), "")
	write(t, filepath.Join(root, "real.yml"), head+"- file: a.yml\n")
	link := filepath.Join(root, "p.yml")
	if err := os.Symlink("real.yml", link); err != nil {
		t.Skip(err)
	}
	l, err := Read(root, link)
	if err != nil {
		t.Fatal(err)
	}
	var at string
	err = l.Update(func(path string, _ []byte) error { at = path; return nil }, func(now *List) { now.Status = Completed })
	if err != nil || filepath.Base(at) != "real.yml" {
		t.Errorf("%v: wrote %s", err, at)
	}
}

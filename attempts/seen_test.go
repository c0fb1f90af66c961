package attempts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const relay1 = "v1.2.3"

// longNight returns a ledger whose logs are long enough for a file for viewers, and a run of it that is on.
func longNight(t *testing.T) (*bench, *Store) {
	t.Helper()
	b := newBench(t, 300)
	o := b.options(run1)
	o.Relay = relay1
	s, err := Open(o)
	must(t, err)
	events := []Event{{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 42, Jobs: 2, Settings: Settings{MaxAttemptsPerTask: 3}}}}
	for _, task := range b.e.Tasks {
		events = append(events, started(task.ID, 1), failedAtLength(task.ID, 1), started(task.ID, 2), succeeded(task.ID, 2))
	}
	must(t, s.Append(append(
		events, Event{Type: TypeGated, Task: "T300", Gate: &Gate{Reason: UserBlocked, Detail: "wait"}}, started("T7", 9),
		Event{Type: TypeCooldown, Cooldown: &Cooldown{Runner: "claude", Outcome: Auth, Why: "log in"}},
	)...))
	must(t, s.Flush())
	return b, s
}

// sees compares the ledger that viewers of a version of relay read with all events, and reports whether it begins with the file of a run.
func (b *bench) sees(t *testing.T, relay string) bool {
	t.Helper()
	got, err := See(Options{Dir: b.dir, Relay: relay})
	must(t, err)
	want, err := See(Options{Dir: b.dir})
	must(t, err)
	g, err := json.Marshal(got)
	must(t, err)
	w, err := json.Marshal(want)
	must(t, err)
	if !bytes.Equal(g, w) {
		at := 0
		for at < min(len(g), len(w)) && g[at] == w[at] {
			at++
		}
		t.Errorf("viewers see\n%.300s\nwant\n%.300s", g[max(at-100, 0):], w[max(at-100, 0):])
	}
	disk, err := openFolder(b.dir)
	must(t, err)
	defer disk.Close()
	c, err := load(disk, Options{Relay: relay}, false)
	must(t, err)
	return c.log.skipped > 0
}

// Viewers have the same ledger with the file of a run as without it, while the run goes on, after the next one, and after its file, the
// logs or the ledger were changed.
func TestSeen(t *testing.T) {
	t.Parallel()
	b, s := longNight(t)
	if !b.sees(t, relay1) || b.sees(t, "v1.2.4") {
		t.Fatal("the file of a run is for viewers of the same relay")
	}
	must(t, s.Append(failedAtLength("T7", 9), started("T8", 9), Event{Type: TypeUngated, Task: "T300"}))
	if !b.sees(t, relay1) {
		t.Error("the file is not used while the run goes on")
	}
	must(t, s.Close())
	s = b.open(t, run2)
	must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 43, Jobs: 3}}, succeeded("T8", 9)))
	must(t, s.Close())
	if !b.sees(t, relay1) {
		t.Error("the file is not used after another run")
	}
	for _, c := range []struct {
		name, note string
		change     func(text []byte) []byte
	}{
		{seenFile, "torn", func(text []byte) []byte { return text[:len(text)-100] }},
		{seenFile, "changed", func(text []byte) []byte { return bytes.Replace(text, []byte("T8"), []byte("T9"), 1) }},
		{seenFile, "empty", func([]byte) []byte { return nil }},
		{EventsPath(run1), "changed", func(text []byte) []byte { return bytes.Replace(text, []byte("T8"), []byte("T9"), 1) }},
		{EventsPath(run2), "torn", func(text []byte) []byte { return text[:len(text)-100] }},
	} {
		path := filepath.Join(b.dir, c.name)
		whole, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, c.change(whole), 0o600))
		if used := b.sees(t, relay1); used {
			t.Errorf("%s %s: the file is used", c.note, c.name)
		}
		must(t, os.WriteFile(path, whole, 0o600))
	}
	if !b.sees(t, relay1) {
		t.Error("the file of the run is not used again")
	}
}

// An agent that forges what viewers read is noticed, and the files are put back, or removed if there was none.
func TestSeenForged(t *testing.T) {
	t.Parallel()
	b, s := longNight(t)
	must(t, s.Close())
	o := b.options(run2)
	o.Relay, o.Plan = relay1, []byte("the plan\n")
	s, err := Open(o)
	must(t, err)
	forge := func(name string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(b.dir, name), []byte("forged"), 0o600))
	}
	for range 2 {
		must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 43}}))
		must(t, s.Flush())
		for _, name := range []string{seenFile, SeenPlan} {
			forge(name)
			if names, err := s.Restore(); err != nil || !slices.Equal(names, []string{name}) {
				t.Errorf("%s: got %q, %v", name, names, err)
			}
			if names, err := s.Restore(); err != nil || len(names) > 0 || !b.sees(t, relay1) {
				t.Errorf("%s is not put back: %q, %v", name, names, err)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, SeenPlan)); err != nil || !bytes.Equal(text, o.Plan) {
		t.Errorf("the plan for viewers is %q, %v", text, err)
	}
	must(t, s.Close())

	short := newBench(t, 3)
	o = short.options(run1)
	o.Relay = relay1
	s, err = Open(o)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(short.dir, seenFile), nil, 0o600))
	if names, err := s.Restore(); err != nil || !slices.Equal(names, []string{seenFile}) {
		t.Errorf("a short log: got %q, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(short.dir, seenFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a short log: the file is still there: %v", err)
	}
	must(t, s.Close())
}

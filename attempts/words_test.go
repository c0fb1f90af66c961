package attempts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"relay/attempts/internal/durable"
)

// said is all that a person is told of an epic's memory without writing to it.
func said(t *testing.T, b *bench) string {
	t.Helper()
	faults, err := Validate(b.options(""))
	if err != nil {
		return err.Error()
	}
	var told []string
	for _, f := range faults {
		told = append(told, strings.TrimSuffix(f.Error()+" ("+f.Hint+")", " ()"))
	}
	v := b.read(t)
	told = append(told, v.Warnings...)
	if v.Edit != "" && len(faults) == 0 {
		told = append(told, v.Edit)
	}
	return strings.Join(told, "\n")
}

// What is wrong with the files is said in words, with the place and what to do.
func TestWordsForDamage(t *testing.T) {
	t.Parallel()
	framed := func(object string) string { return string(durable.Frame(nil, []byte(object))) }
	const hint = " (relay ledger validate shows the damage; relay ledger repair keeps a copy and restores what can be)"
	log := EventsPath(run1)
	for name, tc := range map[string]struct {
		harm func(dir string, lines []string) ([]string, error) // of the log
		want string
	}{
		"no event":         {second("garbage\n"), log + ":2: not an event" + hint},
		"no checksum":      {second(`{"crc":"xxxxxxxx","seq":2,"at":"2026-01-11T22:00:02Z"}` + "\n"), log + ":2: its checksum cannot be read" + hint},
		"another checksum": {second(`{"crc":"00000000","seq":2,"at":"2026-01-11T22:00:02Z"}` + "\n"), log + ":2: its checksum does not match" + hint},
		"no JSON":          {second(framed(`{"seq":2;`)), log + ":2: not JSON" + hint},
		"no number":        {second(framed(`{"seq":0,"at":"2026-01-11T22:00:02Z"}`)), log + ":2: 0 is not an event's number" + hint},
		"another event":    {second(framed(`{"seq":2,"at":"2026-01-11T22:00:02Z","type":[]}`)), log + ":2: not an event: "},
		"twice":            {func(_ string, l []string) ([]string, error) { return slices.Insert(l, 2, l[1]), nil }, log + ":3: event 2 is there twice"},
		"out of order":     {func(_ string, l []string) ([]string, error) { return slices.Insert(l, 4, l[1]), nil }, log + ":5: event 2 comes after event 4 (two relays have written at once, or a log was copied: relay ledger repair saves what can be read, and keeps a copy)"},
		"a gap":            {func(_ string, l []string) ([]string, error) { return slices.Delete(l, 1, 3), nil }, log + ":2: events 2 to 3 are missing"},
		"no ledger":        {func(dir string, l []string) ([]string, error) { return l, os.Remove(filepath.Join(dir, LedgerFile)) }, "attempt-ledger.yml is missing; it is made again from the event logs"},
		"no logs":          {withoutRuns(""), "there is no event log of what attempt-ledger.yml says up to event 8; it is taken as it stands"},
		"a log that is none": {func(dir string, _ []string) ([]string, error) {
			path := filepath.Join(dir, filepath.FromSlash(EventsPath(run1)))
			return nil, errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, EventsPath(run1) + ": it is not a regular file (relay ledger repair takes it out of the way)"},
		"no logs, odd value": {withoutRuns("pid: many"), "attempt-ledger.yml: left out: line "},
		"a log without its begin": {func(dir string, l []string) ([]string, error) {
			return l[3:], os.Remove(filepath.Join(dir, LedgerFile))
		}, log + ":1: what comes before is missing, and there is no attempt-ledger.yml to stand in for it (put the files back, or relay ledger repair)"},
		"a log without its begin, a ledger that is none": {func(dir string, l []string) ([]string, error) {
			return l[3:], os.WriteFile(filepath.Join(dir, LedgerFile), []byte("- a\n"), 0o644)
		}, "attempt-ledger.yml: it cannot be read: it is not a map (correct it; the event logs do not go back to the beginning)"},
		"a log without its begin, an edited ledger": {func(dir string, l []string) ([]string, error) {
			path := filepath.Join(dir, LedgerFile)
			text, err := os.ReadFile(path)
			return l[3:], errors.Join(err, os.WriteFile(path, append(text, "# mine\n"...), 0o644))
		}, "(the event logs that would show the change are missing)"},
		"a ledger that is none": {func(dir string, l []string) ([]string, error) {
			return l, os.WriteFile(filepath.Join(dir, LedgerFile), nil, 0o644)
		}, "attempt-ledger.yml: it cannot be read: it is empty\n"},
		"a newer ledger": {func(dir string, l []string) ([]string, error) {
			return l, os.WriteFile(filepath.Join(dir, LedgerFile), []byte("version: 9\n"), 0o644)
		}, "attempt-ledger.yml has version 9, and this relay reads up to version 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := edited(t, func(s string) string { return s })
			path := filepath.Join(b.dir, filepath.FromSlash(log))
			text, err := os.ReadFile(path)
			must(t, err)
			lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
			lines, err = tc.harm(b.dir, lines)
			must(t, err)
			if lines != nil {
				must(t, os.WriteFile(path, []byte(strings.Join(lines, "")+"\n"), 0o644))
			}
			if got := said(t, b); !strings.Contains("\n"+got, "\n"+tc.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// second puts a text in the place of a log's second line.
func second(text string) func(string, []string) ([]string, error) {
	return func(_ string, lines []string) ([]string, error) {
		lines[1] = text
		return lines, nil
	}
}

// withoutRuns removes all logs, after the ledger was changed.
func withoutRuns(instead string) func(string, []string) ([]string, error) {
	return func(dir string, _ []string) ([]string, error) {
		path := filepath.Join(dir, LedgerFile)
		text, err := os.ReadFile(path)
		if err == nil && instead != "" {
			err = os.WriteFile(path, []byte(strings.Replace(string(text), "pid: 42", instead, 1)), 0o644)
		}
		return nil, errors.Join(err, os.RemoveAll(filepath.Join(dir, RunsDir)))
	}
}

func TestWordsForLedgers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "it is empty",
		"- a\n":                          "it is not a map",
		"version: 2\n---\nversion: 2\n":  "there is a second YAML document in it",
		strings.Repeat(" ", maxLedger+1): "it has 67108865 bytes, more than 67108864",
	} {
		if _, err := parseLedger([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
	p, err := parseLedger([]byte("task_status: {T1: gated}\n"))
	must(t, err)
	if got, want := p.ledger.Tasks["T1"].Gate.Detail, "gated by hand in the ledger"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := diff(newFold(nil, nil), bytes.Repeat([]byte("b\n"), maxDiffLines)), "(the diff has 5022 lines)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := durable.BoundedList(slices.Repeat([]string{"a.go"}, bigList+3)); got[bigList] != "… and 3 more" {
		t.Errorf("got %q", got[bigList])
	}
}

// A ledger of which nothing was run, and what a person's decision adds to it.
func TestWordsOfTheLedger(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	read := func() string {
		text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
		must(t, err)
		return string(text)
	}
	for _, want := range []string{"\nattempts: {}\n", "\ngated_tasks: {}\n", "\nrelay_status: {}\n"} {
		if got := read(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %q in it", got, want)
		}
	}
	s := b.open(t, run1)
	must(t, s.Append(started("T1", 1), failed("T1", 1, "no"), Event{Type: TypeReset, Task: "T1"}))
	must(t, s.Close())
	if got, want := read(), "\ncount_from: # attempts before these no longer count against the limits\n  T1: 1\n"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %q in it", got, want)
	}
	if err := Create(b.dir, b.e, Settings{}, clock()()); err == nil || err.Error() != "there is an attempt ledger already" {
		t.Errorf("got %v", err)
	}
}

func TestWordsForRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	if _, err := Open(b.options("tonight")); err == nil || err.Error() != `"tonight" is not a run id` {
		t.Errorf("got %v", err)
	}
	for _, run := range []string{run1, run2} {
		s := b.open(t, run)
		must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 42}}))
		must(t, s.Close())
	}
	if _, err := Open(b.options(run1)); err == nil || err.Error() != "run 20260111T220000Z-aaaa is over" {
		t.Errorf("got %v", err)
	}
	var warned []string
	o := b.options(run3)
	o.Warn = func(text string) { warned = append(warned, text) }
	s, err := Open(o)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(b.dir, LedgerFile), []byte("a: b\n"), 0o644))
	must(t, s.Close())
	if want := "attempt-ledger.yml was changed by somebody else and has been restored"; !slices.Contains(warned, want) {
		t.Errorf("got %q, want %q", warned, want)
	}
	must(t, os.WriteFile(filepath.Join(b.dir, filepath.FromSlash(EventsPath(run3))), []byte("garbage\n"+string(durable.Frame(nil, []byte(`{"seq":99,"at":"2026-01-13T22:00:00Z","type":"note"}`)))), 0o644))
	_, err = Repair(b.options(""))
	must(t, err)
	var notes []string
	must(t, Replay(b.dir, func(e Event) error {
		if e.Note != nil {
			notes = append(notes, e.Note.Text)
		}
		return nil
	}))
	if want := "2 faults repaired; the old files are in damaged-20260111T220001Z"; !slices.Contains(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
}

func TestWordsForFolders(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		RunsDir:              "read runs: not a folder",
		RunsDir + "/" + run1: "read runs/20260111T220000Z-aaaa: not a folder",
	} {
		b := newBench(t, 1)
		path := filepath.Join(b.dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, nil, 0o600))
		if _, err := Read(b.dir, b.e, b.g); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if name != RunsDir {
			continue
		}
		disk, err := durable.OpenDisk(b.dir)
		must(t, err)
		if err := durable.MkdirAll(disk, RunsDir); err == nil || err.Error() != "mkdir runs: not a folder" {
			t.Errorf("got %v", err)
		}
		must(t, disk.Close())
	}
}

// fullDisk has no room for one file.
type fullDisk struct {
	durable.FS
	without string
}

func (d fullDisk) OpenFile(name string, flag int, perm os.FileMode) (durable.File, error) {
	if name == d.without && flag&(os.O_CREATE|os.O_WRONLY) != 0 {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.ENOSPC}
	}
	return d.FS.OpenFile(name, flag, perm)
}

func TestWordsForAFullDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	disk, err := durable.OpenDisk(b.dir)
	must(t, err)
	_, err = open(b.options(run1), fullDisk{disk, reserveFile}, func(*contents) error { return nil })
	if want := fmt.Sprintf("reserve 65536 bytes in %s: open reserve: no space left on device", b.dir); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	var warned []string
	o := b.options(run1)
	o.Warn = func(text string) { warned = append(warned, text) }
	s, err := Open(o)
	must(t, err)
	must(t, os.Remove(filepath.Join(b.dir, reserveFile)))
	must(t, os.Mkdir(filepath.Join(b.dir, reserveFile), 0o755))
	must(t, os.Mkdir(filepath.Join(b.dir, reserveFile, "x"), 0o755))
	_ = s.journal.fail(fmt.Errorf("append: %w", syscall.ENOSPC))
	_ = s.Close()
	if len(warned) == 0 || !strings.HasPrefix(warned[0], "the reserve could not be used: ") {
		t.Errorf("got %q", warned)
	}
}

func TestWordsForHeldLocks(t *testing.T) {
	t.Parallel()
	for held, want := range map[HeldError]string{
		{Holder: Holder{PID: 7, Host: "den"}, Foreign: true}: "held by process 7 on another host, den, since 0001-01-01T00:00:00Z",
		{Holder: Holder{PID: 7, Host: "den"}}:                "held by process 7 on den since 0001-01-01T00:00:00Z",
		{}:                                                   "held by another process",
	} {
		if got := held.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

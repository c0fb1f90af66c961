package attempts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"relay/attempts/internal/durable"
)

// What an agent may do to relay's own files, and which of them Restore has to name.
func TestRestore(t *testing.T) {
	t.Parallel()
	log1, log2 := EventsPath(run1), EventsPath(run2)
	write := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	}
	in := func(name string, f func(path string) error) func(string) error {
		return func(dir string) error { return f(filepath.Join(dir, name)) }
	}
	for name, tc := range map[string]struct {
		harm func(dir string) error
		want []string
	}{
		"nothing":             {func(string) error { return nil }, nil},
		"log truncated":       {in(log2, func(p string) error { return os.Truncate(p, 10) }), []string{log2}},
		"log emptied":         {in(log2, func(p string) error { return os.Truncate(p, 0) }), []string{log2}},
		"log deleted":         {in(log2, os.Remove), []string{log2}},
		"log appended to":     {in(log2, appendTo), []string{log2}},
		"log rewritten":       {in(log2, rewrite), []string{log2}},
		"log replaced":        {in(log2, replace), []string{log2}},
		"log now a folder":    {in(log2, toFolder), []string{log2}},
		"log now a link":      {in(log2, toLink), []string{log2}},
		"log copied and back": {in(log2, copyAndBack), nil},
		"log touched":         {in(log2, func(p string) error { return os.Chmod(p, 0o600) }), nil},
		"old log deleted":     {in(log1, os.Remove), []string{log1}},
		"old log rewritten":   {in(log1, rewrite), []string{log1}},
		"runs deleted":        {in(RunsDir, os.RemoveAll), []string{log1, log2}},
		"runs now a link":     {in(RunsDir, toLink), []string{log1, log2}},
		"runs now a file":     {in(RunsDir, toFile), []string{log1, log2}},
		"ledger rewritten":    {write(LedgerFile, "task_status: {T1: completed}\n"), []string{LedgerFile}},
		"ledger deleted":      {in(LedgerFile, os.Remove), []string{LedgerFile}},
		"ledger now a folder": {in(LedgerFile, toFolder), []string{LedgerFile}},
		"ledger touched":      {in(LedgerFile, func(p string) error { return os.Chmod(p, 0o600) }), nil},
		"lock deleted":        {in(LockFile, os.Remove), []string{LockFile}},
		"lock rewritten":      {write(LockFile, "{}"), []string{LockFile}},
		"folder emptied":      {emptied, []string{LockFile, log1, log2, LedgerFile}},
		"folder deleted":      {os.RemoveAll, []string{LockFile, log1, log2, LedgerFile}},
		"folder moved away":   {func(dir string) error { return os.Rename(dir, dir+"-away") }, []string{LockFile, log1, log2, LedgerFile}},
		"folder now a link":   {toLink, []string{LockFile, log1, log2, LedgerFile}},
		"folder now elsewhere": {func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(dir)), os.Mkdir(filepath.Dir(dir), 0o755))
		}, []string{LockFile, log1, log2, LedgerFile}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRestore(t, tc.harm, tc.want)
		})
	}
}

func testRestore(t *testing.T, harm func(string) error, want []string) {
	t.Helper()
	b := newBench(t, 7)
	s := b.open(t, run1)
	b.night(t, s)
	must(t, s.Close())
	s = b.open(t, run2)
	must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 43}}))
	must(t, s.Flush())
	must(t, s.Append(started("T2", 2)))
	before := fmt.Sprint(s.Counts())

	must(t, harm(b.dir))
	got, err := s.Restore()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if again, err := s.Restore(); err != nil || len(again) > 0 {
		t.Errorf("the second time: got %q, %v", again, err)
	}
	if _, err := Open(b.options(run3)); !errors.As(err, new(*HeldError)) {
		t.Errorf("the lock is free: %v", err)
	}
	must(t, s.Append(succeeded("T2", 2)))
	must(t, s.Append(Event{Type: TypeReset, Task: "T2"}))
	if got := fmt.Sprint(s.Counts()); got == before {
		t.Errorf("got %v, want a change", got)
	}
	must(t, s.Close())

	faults, err := Validate(b.options(""))
	if err != nil || len(faults) > 0 {
		t.Errorf("got %v, %v", faults, err)
	}
	v := b.read(t)
	if n := len(v.Ledger.Tasks["T2"].Attempts); n != 2 || len(v.Warnings) > 0 || v.Ledger.Tasks["T1"].Attempts[0].Receipt.Summary != "made T1" {
		t.Errorf("got %+v", v)
	}
	n := 0
	must(t, Replay(b.dir, func(Event) error { n++; return nil }))
	if n < 12 {
		t.Errorf("got %d events", n)
	}
}

func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("{\"crc\":\"00000000\",\"seq\":99}\n")
	return errors.Join(err, f.Close())
}

// rewrite changes bytes in place, without changing the size, and a moment after what was there: not every file system
// tells two changes of one moment apart.
func rewrite(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	copy(text[len(text)/2:], "XXXX")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Millisecond)))
}

func replace(path string) error { return errors.Join(os.Remove(path), toFile(path)) }

func toFile(path string) error {
	return errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte("mine now\n"), 0o644))
}

func toFolder(path string) error {
	return errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Join(path, "deep"), 0o755))
}

func toLink(path string) error {
	elsewhere := path + "-elsewhere"
	return errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path))
}

func copyAndBack(path string) error {
	text, err := os.ReadFile(path)
	return errors.Join(err, os.WriteFile(path+"-copy", text, 0o644), os.Rename(path+"-copy", path))
}

func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// An acknowledged event is on the disk under its name, even when the log was removed just before.
func TestAppendNoticesHarm(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(string) error{
		"deleted":   os.Remove,
		"truncated": func(p string) error { return os.Truncate(p, 0) },
		"appended":  appendTo,
	} {
		b := newBench(t, 7)
		s := b.open(t, run1)
		b.night(t, s)
		must(t, harm(filepath.Join(b.dir, EventsPath(run1))))
		must(t, s.Append(started("T5", 1)))
		n := 0
		must(t, Replay(b.dir, func(e Event) error {
			if e.Type == TypeAttemptStarted && e.Task == "T5" {
				n++
			}
			return nil
		}))
		if n != 1 {
			t.Errorf("%s: the event is there %d times", name, n)
		}
		got, err := s.Restore()
		if err != nil || !slices.Equal(got, []string{EventsPath(run1)}) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		must(t, s.Close())
	}
}

// A ledger that somebody has changed, and that a snapshot puts right before anybody looks, is told of all the same.
func TestSnapshotNoticesHarm(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(string) error{
		"deleted":    os.Remove,
		"rewritten":  rewrite,
		"now a link": toLink,
		"emptied":    func(p string) error { return errors.Join(os.Remove(p), os.WriteFile(p, nil, 0o600)) },
		"touched":    nil,
	} {
		b := newBench(t, 7)
		s := b.open(t, run1)
		b.night(t, s)
		must(t, s.Flush())
		want := []string{LedgerFile}
		if harm == nil {
			want = nil
			must(t, os.Chmod(filepath.Join(b.dir, LedgerFile), 0o600))
		} else {
			must(t, harm(filepath.Join(b.dir, LedgerFile)))
		}
		must(t, s.Append(started("T5", 1)))
		must(t, s.Flush())
		if got, err := s.Restore(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
		if got, err := s.Restore(); err != nil || got != nil {
			t.Errorf("%s: told again: %q, %v", name, got, err)
		}
		must(t, s.Close())
	}
}

// A change in the same instant as our own write shows in no time stamp; Close reads the log.
func TestCloseReadsTheLog(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	o := b.options(run1)
	var warned []string
	o.Warn = func(text string) { warned = append(warned, text) }
	s, err := Open(o)
	must(t, err)
	b.night(t, s)
	path := filepath.Join(b.dir, EventsPath(run1))
	must(t, rewrite(path))
	must(t, s.Append(started("T5", 1))) // takes the new times for its own
	must(t, s.Close())
	if len(warned) != 1 {
		t.Errorf("got %q", warned)
	}
	if faults, err := Validate(b.options("")); err != nil || len(faults) > 0 {
		t.Errorf("got %v, %v", faults, err)
	}
}

// A large log is kept compressed.
func TestRestoreLargeLog(t *testing.T) {
	t.Parallel()
	b := newBench(t, 400)
	s := b.open(t, run1)
	nightOf(t, b, s)
	if info, err := os.Stat(filepath.Join(b.dir, EventsPath(run1))); err != nil || info.Size() < 256<<10 {
		t.Fatalf("the log is too small: %v, %v", info, err)
	}
	must(t, os.RemoveAll(b.dir))
	if _, err := s.Restore(); err != nil {
		t.Fatal(err)
	}
	must(t, s.Append(started("T5", 9)))
	must(t, s.Close())
	if v := b.read(t); v.Counts[Completed] != 400 {
		t.Errorf("got %v", v.Counts)
	}
}

// An agent may remove relay's folder at the very moment the ledger is written: that is no failure of the disk.
func TestRemovedWhileTheLedgerIsWritten(t *testing.T) {
	t.Parallel()
	for _, point := range []string{durable.BeforeRename, durable.AfterRename} {
		b := newBench(t, 7)
		o := b.options(run1)
		removed := false
		o.Fault = func(at string) error {
			if at == point && !removed {
				removed = true
				return os.RemoveAll(b.dir)
			}
			return nil
		}
		s, err := Open(o)
		must(t, err)
		must(t, s.Append(started("T1", 1)))
		must(t, s.Flush())
		if !removed {
			t.Fatalf("%s: nothing was written", point)
		}
		names, err := s.Restore()
		if err != nil || len(names) == 0 {
			t.Errorf("%s: restored %q, %v", point, names, err)
		}
		must(t, s.Append(succeeded("T1", 1)))
		must(t, s.Close())
		if v := b.read(t); v.Counts[Completed] != 1 {
			t.Errorf("%s: got %v", point, v.Counts)
		}
	}
}

// An edit of the ledger is told of also when it comes while relay itself is writing it, or right after.
func TestEditedWhileTheLedgerIsWritten(t *testing.T) {
	t.Parallel()
	for _, point := range []string{durable.BeforeTemp, durable.AfterTempSync, durable.AfterRename, durable.AfterReplaceSync} {
		b := newBench(t, 7)
		o := b.options(run1)
		edits := false
		o.Fault = func(at string) error {
			if edits && at == point {
				edits = false
				return os.WriteFile(filepath.Join(b.dir, LedgerFile), []byte("task_status: {T1: completed}\n"), 0o644)
			}
			return nil
		}
		s, err := Open(o)
		must(t, err)
		must(t, s.Append(started("T1", 1)))
		edits = true
		must(t, s.Flush())
		if edits {
			t.Fatalf("%s: nothing was written", point)
		}
		names, err := s.Restore()
		if err != nil || !slices.Equal(names, []string{LedgerFile}) {
			t.Errorf("%s: restored %q, %v", point, names, err)
		}
		must(t, s.Close())
		if v := b.read(t); v.Counts[Completed] != 0 {
			t.Errorf("%s: got %v", point, v.Counts)
		}
	}
}

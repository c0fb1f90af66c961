package attempts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Neither a link in the place of the ledger nor one in that of the runs is followed.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{LedgerFile, RunsDir, RunsDir + "/" + run1, EventsPath(run1)} {
		b := edited(t, func(s string) string { return s })
		path := filepath.Join(b.dir, filepath.FromSlash(name))
		outside := filepath.Join(t.TempDir(), "outside")
		must(t, os.Rename(path, outside))
		must(t, os.Symlink(outside, path))
		before := listing(t, filepath.Dir(outside))
		if s, err := Open(b.options(run2)); err == nil {
			t.Errorf("%s: a link was followed", name)
			s.Close()
		}
		if got := listing(t, filepath.Dir(outside)); got != before {
			t.Errorf("%s: got %s outside, want %s", name, got, before)
		}
	}
}

// listing names every file below a folder with its size and time.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String())
		if !info.IsDir() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(text)
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

// Looking changes nothing, whatever state things are in.
func TestLookingWritesNothing(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(string) error{
		"well":        func(string) error { return nil },
		"torn log":    func(dir string) error { return os.Truncate(filepath.Join(dir, EventsPath(run1)), 700) },
		"edited":      func(dir string) error { return os.WriteFile(filepath.Join(dir, LedgerFile), []byte("a: b\n"), 0o644) },
		"damaged":     func(dir string) error { return rewrite(filepath.Join(dir, EventsPath(run1))) },
		"no ledger":   func(dir string) error { return os.Remove(filepath.Join(dir, LedgerFile)) },
		"no logs":     func(dir string) error { return os.RemoveAll(filepath.Join(dir, RunsDir)) },
		"no lock":     func(dir string) error { return os.Remove(filepath.Join(dir, LockFile)) },
		"left a temp": func(dir string) error { return os.WriteFile(filepath.Join(dir, LedgerFile+".relay-tmp"), nil, 0o644) },
	} {
		b := edited(t, func(s string) string { return s })
		must(t, harm(b.dir))
		before := listing(t, b.dir)
		v, err := Read(b.dir, b.e, b.g)
		if err != nil || len(v.Ledger.Tasks) != 7 {
			t.Errorf("%s: got %+v, %v", name, v, err)
		}
		if _, err := Validate(b.options("")); err != nil {
			t.Errorf("%s: got %v", name, err)
		}
		if got := listing(t, b.dir); got != before {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, before)
		}
	}
}

// A torn end is cut on the next open, kept beside the log, and told of once.
func TestTornEndIsCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	s := b.open(t, run1)
	b.night(t, s)
	must(t, s.Close())
	path := filepath.Join(b.dir, EventsPath(run1))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"crc":"12345678","seq":12,"at":"20`)
	must(t, errors.Join(err, f.Close()))
	if v := b.read(t); len(v.Warnings) != 1 {
		t.Errorf("got %q", v.Warnings)
	}
	var warned []string
	o := b.options(run2)
	o.Warn = func(text string) { warned = append(warned, text) }
	s, err = Open(o)
	must(t, err)
	must(t, s.Append(started("T5", 1)))
	must(t, s.Close())
	if len(warned) != 1 || !strings.Contains(warned[0], EventsPath(run1)) {
		t.Errorf("got %q", warned)
	}
	if kept, err := os.ReadFile(path + ".torn"); err != nil || string(kept) != `{"crc":"12345678","seq":12,"at":"20` {
		t.Errorf("got %q, %v", kept, err)
	}
	if v := b.read(t); len(v.Warnings) > 0 {
		t.Errorf("got %q", v.Warnings)
	}
}

// Damage in the middle of a log keeps a run from starting, is named by file and line, and can be repaired.
func TestDamage(t *testing.T) {
	t.Parallel()
	b := edited(t, func(s string) string { return s })
	want := b.read(t)
	path := filepath.Join(b.dir, EventsPath(run1))
	text, err := os.ReadFile(path)
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	lines[2] = "garbage\n"
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644))

	_, err = Open(b.options(run2))
	var damage *DamageError
	if !errors.As(err, &damage) || !strings.HasPrefix(err.Error(), EventsPath(run1)+":3: ") {
		t.Errorf("got %v", err)
	}
	faults, err := Validate(b.options(""))
	if err != nil || len(faults) == 0 || faults[0].Line != 3 {
		t.Errorf("got %v, %v", faults, err)
	}
	if v := b.read(t); len(v.Faults) == 0 || v.Counts[Gated] != 1 {
		t.Errorf("got %+v", v)
	}
	r, err := Repair(b.options(""))
	if err != nil || len(r.Faults) == 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	if kept, err := os.ReadFile(filepath.Join(b.dir, r.Copy, run1+"-"+EventsFile)); err != nil || string(kept) != strings.Join(lines, "") {
		t.Errorf("got %q, %v", kept, err)
	}
	v := b.read(t)
	for id, rec := range want.Ledger.Tasks { // the ledger had it all
		if !sameJSON(rec, v.Ledger.Tasks[id]) {
			t.Errorf("task %s: got %+v, want %+v", id, v.Ledger.Tasks[id], rec)
		}
	}
	if len(v.Faults) > 0 || len(v.Warnings) > 0 {
		t.Errorf("got %q", v.Warnings)
	}
	must(t, b.open(t, run3).Close())
	if r, err := Repair(b.options("")); err != nil || len(r.Faults) > 0 {
		t.Errorf("again: got %+v, %v", r, err)
	}
}

// What is not known of a log is kept where it is and passed over.
func TestUnknownEventsAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	s := b.open(t, run1)
	must(t, s.Append(started("T1", 1)))
	must(t, s.Append(Event{Type: "of_the_future", Task: "T1"}))
	must(t, s.Append(succeeded("T1", 1)))
	must(t, s.Close())
	n := 0
	must(t, Replay(b.dir, func(e Event) error {
		if e.Type == "of_the_future" {
			n++
		}
		return nil
	}))
	if v := b.read(t); n != 1 || v.Counts[Completed] != 1 || len(v.Warnings) > 0 {
		t.Errorf("got %d, %+v", n, v)
	}
}

// A clock that goes backwards between two nights changes nothing: order is that of the events.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	for i, run := range []string{run3, run2, run1} {
		s := b.open(t, run)
		must(t, s.Append(started("T1", i+1), failed("T1", i+1, "no")))
		must(t, s.Close())
	}
	s := b.open(t, "")
	if s.Run() != run1 {
		t.Errorf("got %s, want the run that wrote last", s.Run())
	}
	rec := s.Task("T1")
	must(t, s.Close())
	for i, a := range rec.Attempts {
		if a.ID != i+1 {
			t.Errorf("got attempt %d in place %d", a.ID, i)
		}
	}
	if _, err := Open(b.options(run3)); err == nil {
		t.Error("an old run was taken up again")
	}
}

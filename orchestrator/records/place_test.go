package records

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay/attempts/ledgersync"
)

const later = "; relay goes on without it, and catches up when it can: relay ledger rebuild"

// place is what stands where records belong.
type place struct {
	name    string
	make    func(name string) error
	warning string
}

func aFolder(name string) error { return os.MkdirAll(name, 0o700) }
func aFile(name string) error   { return os.WriteFile(name, nil, 0o600) }

func inFolder(make func(name string) error) func(string) error {
	return func(name string) error { return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), make(name)) }
}

func aLink(to string) func(string) error {
	return inFolder(func(name string) error { return os.Symlink(to, name) })
}

func aPipe(name string) error {
	return inFolder(func(name string) error { return unix.Mkfifo(name, 0o600) })(name)
}

// What cannot be written is told once, and made up for later; what stands there stays.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	const ledger, notRegular = ".ledgersync/ledger.jsonl", ".ledgersync/ledger.jsonl cannot be written: open .ledgersync/ledger.jsonl: " +
		"not a regular file; relay goes on without it, and catches up when it can: relay ledger rebuild"
	for what, p := range map[string]place{
		"a folder in place of the ledger": {ledger, aFolder, notRegular},
		"a link in place of the ledger":   {ledger, aLink("/etc/passwd"), notRegular},
		"a link to nothing":               {ledger, aLink("gone"), notRegular},
		"a pipe in place of the ledger":   {ledger, aPipe, notRegular},
		"a file in place of the folder":   {".ledgersync", aFile, ".ledgersync is not a folder: records need one of that name"},
		"a pipe in place of the folder":   {".ledgersync", aPipe, ".ledgersync is not a folder: records need one of that name"},
		"a link in place of the folder":   {".ledgersync", aLink("/etc"), ".ledgersync is not a folder: records need one of that name"},
		"a file in place of the artifacts": {
			"thoughts", aFile, "thoughts/shared/handoffs cannot be written: thoughts is not a folder: artifacts need one of that name" +
				"; relay goes on without it, and catches up when it can: relay ledger rebuild",
		},
		"a pipe in place of the artifacts":   {"thoughts", aPipe, "thoughts is not a folder: artifacts need one of that name" + later},
		"a link out of the checkout":         {"thoughts", aLink("/etc"), "thoughts/shared/handoffs cannot be written: "},
		"a file in place of the discussions": {".ledger", aFile, ".ledger/entries cannot be written: .ledger is not a folder: discussions need one of that name" + later},
		"a link in place of the discussions": {".ledger", aLink("."), ".ledger is a link: discussions need a folder of that name" + later},
		"a folder in place of a discussion's temporary": {
			".ledger/entries/2026-01-11_b-needs-a-person-write-b.yaml.relay-tmp/x", aFolder, ".ledger/entries cannot be written: ",
		},
		"a file in place of the sessions":    {"thoughts/shared/handoffs", inFolder(aFile), "thoughts/shared/handoffs cannot be written: "},
		"a file in place of the session":     {"thoughts/shared/handoffs/20260111-plan", inFolder(aFile), "thoughts/shared/handoffs cannot be written: "},
		"a folder in place of the artifact":  {artifactName, aFolder, "thoughts/shared/handoffs cannot be written: "},
		"a folder in place of the temporary": {artifactName + ".relay-tmp/x", aFolder, "thoughts/shared/handoffs cannot be written: "},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			first, second := nights()
			name := filepath.Join(c.top, p.name)
			must(t, p.make(name))
			before, err := os.Lstat(name)
			must(t, err)
			c.run(t, run1, NewKeeper(c.options(nil)), nil, first...)
			if len(c.warnings) != 1 || !strings.Contains(c.warnings[0], p.warning) {
				t.Errorf("warnings: %q, want %q", c.warnings, p.warning)
			}
			if now, err := os.Lstat(name); err != nil || !os.SameFile(before, now) {
				t.Errorf("it is gone: %v", err)
			}
			top, _, _ := strings.Cut(p.name, "/")
			must(t, os.RemoveAll(filepath.Join(c.top, top)))
			c.run(t, run2, NewKeeper(c.options(nil)), nil, second...)
			same(t, c.records(t), c.fromZero(t))
		})
	}
}

// artifactName is the file of the first run's handoff.
const artifactName = "thoughts/shared/handoffs/20260111-plan/2026-01-11_22-00_20260111t220000z-aaaa-8_checkpoint.yaml"

// A disk that is full or read-only, at each point that is written: one warning for each kind of records, and all is made up for.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, problem := range []error{syscall.ENOSPC, syscall.EROFS, syscall.EACCES} {
		c := newCheckout(t)
		first, second := nights()
		c.run(t, run1, NewKeeper(c.options(func(string) error { return problem })), nil, first...)
		told := problem.Error() + later
		if len(c.warnings) != 3 || slices.ContainsFunc(c.warnings, func(w string) bool { return !strings.Contains(w, told) }) {
			t.Errorf("%v: warnings: %q", problem, c.warnings)
		}
		c.run(t, run2, NewKeeper(c.options(nil)), nil, second...)
		same(t, c.records(t), c.fromZero(t))
	}
}

// Lines that are not entries stay; half a line at the end is removed, with a warning.
func TestDamagedLedger(t *testing.T) {
	t.Parallel()
	endless := strings.Repeat("x", ledgersync.MaxLine+10)
	noise := "\xef\xbb\xbf" + foreign + "\r\n<<<<<<< HEAD\n" + endless + "\n" + foreign + "{\"torn\": \n"
	for what, damage := range map[string]struct{ before, stays, warning string }{
		"lines":           {noise, noise, ""},
		"half a line":     {foreign + `{"id":"7`, foreign, ".ledgersync/ledger.jsonl: half an entry (8 bytes) at its end was removed"},
		"an endless line": {foreign + foreign + endless, foreign + foreign + endless + "\n", ""},
	} {
		c := newCheckout(t)
		first, second := nights()
		must(t, os.MkdirAll(filepath.Join(c.top, ".ledgersync"), 0o700))
		must(t, os.WriteFile(ledgersync.Path(c.top), []byte(damage.before), 0o600))
		c.run(t, run1, NewKeeper(c.options(nil)), nil, first...)
		c.run(t, run2, NewKeeper(c.options(nil)), nil, second...)
		if strings.Join(c.warnings, "\n") != damage.warning {
			t.Errorf("%s: warnings: %.300q, want %q", what, c.warnings, damage.warning)
		}
		got, want := c.records(t), c.fromZero(t)
		if got[".ledgersync/ledger.jsonl"] != damage.stays+want[".ledgersync/ledger.jsonl"] {
			t.Errorf("%s: the ledger is\n%.300q", what, got[".ledgersync/ledger.jsonl"])
		}
	}
}

// Many lines of somebody else cost no memory, and no run waits for them. RELAY_FOREIGN_MIB sets how many MiB there are.
func TestForeignLines(t *testing.T) { //nolint:paralleltest // it measures memory
	c := newCheckout(t)
	first, second := nights()
	must(t, os.MkdirAll(filepath.Join(c.top, ".ledgersync"), 0o700))
	mib, err := strconv.Atoi(os.Getenv("RELAY_FOREIGN_MIB"))
	if err != nil {
		mib = 64
	}
	size := writeForeign(t, ledgersync.Path(c.top), int64(mib)<<20)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	c.run(t, run1, NewKeeper(c.options(nil)), nil, first...)
	c.run(t, run2, NewKeeper(c.options(nil)), nil, second...)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	t.Logf("%d MiB: %v, memory from the system %d KiB before and %d KiB after", mib, took, before.HeapSys>>10, after.HeapSys>>10)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 48<<20 {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
	if len(c.warnings) > 0 {
		t.Errorf("warnings: %q", c.warnings)
	}
	f, err := os.Open(ledgersync.Path(c.top))
	must(t, err)
	defer f.Close()
	_, err = f.Seek(size, 0)
	must(t, err)
	lines := 0
	for in := bufio.NewScanner(f); in.Scan(); lines++ {
		if e, _, err := ledgersync.Decode(in.Bytes()); err != nil || e.Session.ID == "theirs" {
			t.Errorf("behind the others: %s", in.Text())
		}
	}
	if lines != 8 {
		t.Errorf("%d lines of relay, want 8", lines)
	}
	if last, err := ledgersync.Last(ledgersync.Path(c.top), 20, ledgersync.Filter{}); err != nil || len(last) != 20 {
		t.Errorf("the last: %d, %v", len(last), err)
	}
}

// writeForeign fills a ledger with as many bytes of entries at least, and returns how many there are.
func writeForeign(t *testing.T, name string, size int64) (written int64) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	out := bufio.NewWriterSize(f, 1<<20)
	for n := 0; written < size; n++ {
		more, err := fmt.Fprintf(out, `{"id":"%08x-0000-4000-8000-000000000000","timestamp":"2026-01-01T00:00:00Z","agent":{"name":"somebody"},`+
			`"session":{"id":"theirs","entryIndex":%d},"action":{"type":"other","summary":"%s"},"reasoning":{"intent":"i"},"tools":[],"artifacts":[]}`+"\n",
			n, n, strings.Repeat("words ", 30))
		must(t, err)
		written += int64(more)
	}
	must(t, errors.Join(out.Flush(), f.Close()))
	return written
}

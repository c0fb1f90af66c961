package sessions

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts/sessions/filechanges"
)

// changesVariable makes the test binary write the ledger of a folder, and copy its files before each change of them.
const changesVariable = "RELAY_TEST_SESSIONS_CHANGES"

// every is which of the changes TestKilledAtEveryChange looks at; .ci/long looks at all.
var every = flag.Int("every", 3, "1: each change of TestKilledAtEveryChange, 3: a third of them")

// TestKilledAtEveryChange opens what a process leaves that is killed at any change of a file, from the first one on: nothing is damaged,
// batches are there whole or not at all, and what is written again makes the ledger complete.
func TestKilledAtEveryChange(t *testing.T) {
	if dir := os.Getenv(changesVariable); dir != "" {
		recordChanges(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtEveryChange$")
	cmd.Env = append(os.Environ(), changesVariable+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	left, err := filepath.Glob(filepath.Join(dir, "left", "*"))
	if err != nil || len(left) < 100 {
		t.Fatalf("%d different states, %v", len(left), err)
	}
	whole := opened(t, filepath.Join(dir, "live"))
	want := strings.Join(rowsOf(t, whole), "\n")
	journals, err := filepath.Glob(filepath.Join(dir, "left", "*", "*-journal"))
	if t.Logf("%d states, %d journals", len(left), len(journals)); err != nil || len(journals) == 0 {
		t.Errorf("no file is left that is half made, %v", err)
	}
	step := *every
	if testing.Short() {
		step = 11
	}
	for part := range 2 { // of the machine's processors
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for i := part; i < len(left); i += 2 * step {
				if reopen(t, left[i], i%4 < 2, want); t.Failed() {
					t.Fatalf("state %d of %d", i+1, len(left))
				}
			}
		})
	}
}

// recordChanges writes a ledger from nothing to its end.
func recordChanges(t *testing.T, dir string) {
	t.Helper()
	live := filepath.Join(dir, "live")
	if err := os.Mkdir(live, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := filechanges.Record(filepath.Join(live, "*.db*"), filepath.Join(dir, "left"))
	if err != nil {
		t.Fatal(err)
	}
	d := opened(t, live)
	writeAll(t, d)
	err = errors.Join(d.Unmark(t.Context(), "stream"), d.Forget(t.Context(), "s7"), d.Shrink(t.Context()), d.Close())
	if err != nil {
		t.Fatal(err)
	}
	d = opened(t, live)
	if err := errors.Join(d.Write(t.Context(), batchOf(7, 5)), d.Close(), r.End()); err != nil {
		t.Fatal(err)
	}
}

func writeAll(t *testing.T, d *DB) {
	t.Helper()
	if err := errors.Join(d.Write(t.Context(), conversation()), d.Write(t.Context(), batchOf(7, 5))); err != nil {
		t.Fatal(err)
	}
}

// reopen wants a folder to be as a whole number of batches have left it, and writes all of them again.
func reopen(t *testing.T, dir string, readFirst bool, want string) {
	t.Helper()
	if readFirst {
		if r, err := OpenReadOnly(t.Context(), dir); err == nil {
			_, err = r.List(t.Context(), Filter{})
			if err := errors.Join(err, r.Close()); err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, ErrMissing) {
			t.Error(err)
		}
	}
	d := opened(t, dir)
	if len(d.PutAside()) > 0 {
		t.Errorf("put aside: %v", d.PutAside())
	}
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		if got := strings.Join(list(t, d.rows, "PRAGMA "+pragma), " "); got != "ok" && got != "" {
			t.Errorf("%s: %s", pragma, got)
		}
	}
	counts := list(t, d.rows, "SELECT message_count, (SELECT count(*) FROM agent_messages WHERE session_id = s.id) FROM agent_sessions AS s WHERE id LIKE 's_' ORDER BY id")
	for _, got := range counts {
		if got != "5|5" && got != "3|3" {
			t.Errorf("half a batch: %s", got)
		}
	}
	if m, ok, err := d.Mark(t.Context(), "stream"); err != nil || ok && list(t, d.rows, "SELECT count(*) FROM agent_messages WHERE session_id = ?", fmt.Sprint("s", m.Offset-1))[0] != "5" {
		t.Errorf("mark %+v without its rows, %v", m, err)
	}
	writeAll(t, d)
	sound(t, d)
	if got := strings.Join(rowsOf(t, d), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

package sessionkeeper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/attempts/sessions"
	"relay/attempts/sessions/filechanges"
	"relay/epic/slowtest"
	"relay/runners/kinds"
)

// recordVariable names what the test binary does while it copies the files of the ledger before each change, and the folder.
const recordVariable = "RELAY_TEST_KEEPER"

const (
	firstRun  = "20261121T030000Z-abcd"
	secondRun = "20261122T030000Z-abcd"
)

// longNight is a night of four agents, in a folder of its own.
type longNight struct {
	t    *testing.T
	dir  string
	seq  uint64
	tell func(attempts.Event) // hears of each event of the log
	wait func()               // is called when an agent has printed something
}

func (n *longNight) options(run string) Options {
	return Options{
		Enabled: true, Top: "/work/shop", Dir: n.dir, Run: run, Warn: func(text string) { n.t.Error(text) },
		Kind: func(name string) string { kind, _, _ := strings.Cut(name, "-"); return kind },
	}
}

// happens has all of the night happen: an agent with subagents and a fix round, one that goes on in its session, one that is killed in the
// middle of a line, and one with a reviewer.
func (n *longNight) happens() {
	n.t.Helper()
	torn := read(n.t, captured(kinds.Gemini, "shell"))
	n.attempt("T1", kinds.Claude, "", read(n.t, filepath.Join("testdata", "subagents.jsonl")), "fix-1", read(n.t, captured(kinds.Claude, "ok")))
	n.attempt("T2", kinds.Codex, "", read(n.t, captured(kinds.Codex, "sess")), "fix-1", read(n.t, captured(kinds.Codex, "resume-id")))
	n.attempt("T3", kinds.Gemini, "", torn[:len(torn)*2/3])
	n.attempt("T4", kinds.Opencode, "", read(n.t, captured(kinds.Opencode, "shell")), "review/codex-agent/1", read(n.t, captured(kinds.Codex, "shell")))
}

// attempt is one attempt: pairs of a folder and of what is printed there, in two pieces.
func (n *longNight) attempt(task, kind string, pairs ...string) {
	n.t.Helper()
	f := &attemptFacts{run: firstRun, task: task, number: 1, agent: kind + "-agent", kind: kind, dir: "/work/slot-1"}
	o := n.options("")
	a := &night{t: n.t, dir: n.dir, attempt: *newAttempt(&o, f)}
	n.event(startedEvent(0, f))
	for i := 0; i < len(pairs); i += 2 {
		dir, text := a.begin(pairs[i], "do it"), pairs[i+1]
		ms := int64(began + 1000*i)
		a.say(dir, text[:len(text)/2], ms, false)
		n.wait()
		a.say(dir, text[len(text)/2:], ms+500, kind != kinds.Gemini)
	}
	n.event(attempts.Event{
		Run: f.run, Type: attempts.TypeAttemptEnded, Task: task, Attempt: 1,
		Ended: &attempts.Ended{Receipt: attempts.Receipt{Summary: "Did " + task + "."}},
	})
	n.wait()
}

// event puts an event into the log.
func (n *longNight) event(e attempts.Event) {
	n.t.Helper()
	n.seq++
	e.Seq, e.At = n.seq, time.UnixMilli(began).UTC()
	text, err := json.Marshal(e)
	if err != nil {
		n.t.Fatal(err)
	}
	sum := crc32.Checksum(text[1:], crc32.MakeTable(crc32.Castagnoli))
	path := filepath.Join(n.dir, attempts.EventsPath(e.Run))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		n.t.Fatal(err)
	}
	(&night{t: n.t}).write(path, fmt.Sprintf("{\"crc\":\"%08x\",%s\n", sum, text[1:]))
	n.tell(e)
}

// newLongNight is one of which nobody has made rows yet.
func newLongNight(t *testing.T, dir string) *longNight {
	t.Helper()
	n := &longNight{t: t, dir: dir, tell: func(attempts.Event) {}, wait: func() {}}
	n.happens()
	return n
}

// reads makes the rows anew from the files.
func (n *longNight) reads() {
	n.t.Helper()
	done, err := Import(n.t.Context(), n.options(""), "")
	if err != nil || done.Attempts != 4 || len(done.Aside) > 0 {
		n.t.Fatalf("%+v, %v", done, err)
	}
}

// live is the night while its ledger is kept.
func (n *longNight) live() {
	n.t.Helper()
	synctest.Test(n.t, func(t *testing.T) {
		k := New(n.options(firstRun))
		k.Start(t.Context())
		n.tell = func(e attempts.Event) { k.Add([]attempts.Event{e}) }
		n.wait = func() {
			time.Sleep(2 * look) //nolint:forbidigo // fake time
			synctest.Wait()
		}
		n.happens()
		k.Close(t.Context())
	})
}

// goesOn is the run after one that was killed.
func (n *longNight) goesOn() {
	n.t.Helper()
	synctest.Test(n.t, func(t *testing.T) {
		k := New(n.options(secondRun))
		k.Start(t.Context())
		time.Sleep(3 * look) //nolint:forbidigo // fake time
		synctest.Wait()
		k.Close(t.Context())
	})
}

// rows returns all that is in the ledger, after it was found to be sound.
func (n *longNight) rows() string {
	n.t.Helper()
	r, err := sessions.OpenReadOnly(n.t.Context(), n.dir)
	if err != nil {
		n.t.Fatal(err)
	}
	defer r.Close()
	var all strings.Builder
	for query, sound := range map[string]string{"PRAGMA integrity_check": "[[ok]]", "PRAGMA foreign_key_check": "[]"} {
		got, err := r.SQL(n.t.Context(), query, sessions.Limits{Rows: 10, Time: time.Minute})
		if err != nil || fmt.Sprint(got.Rows) != sound {
			n.t.Fatalf("%s: %v, %v", query, got, err)
		}
	}
	for _, table := range []string{"sessions", "messages", "turns", "tool_calls"} {
		got, err := r.SQL(n.t.Context(), "SELECT * FROM agent_"+table+" ORDER BY id", sessions.Limits{Rows: 1000, Time: time.Minute})
		if err != nil || len(got.Rows) == 0 {
			n.t.Fatalf("%s: %v", table, err)
		}
		for _, row := range got.Rows {
			fmt.Fprintln(&all, table, row)
		}
	}
	return all.String()
}

// record does something with a ledger that is not there yet, and copies its files before each change.
func record(t *testing.T, what, dir string) {
	t.Helper()
	n := &longNight{t: t, dir: filepath.Join(dir, "live")}
	if what == "import" {
		n = newLongNight(t, n.dir)
	} else if err := os.Mkdir(n.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := filechanges.Record(filepath.Join(n.dir, "*.db*"), filepath.Join(dir, "left"))
	if err != nil {
		t.Fatal(err)
	}
	if what == "import" {
		n.reads()
		n.reads() // in the place of the rows that are there
	} else {
		n.live()
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
}

// TestKilledAtEveryWrite kills an import, and a run whose agents are at work, at each write to the ledger: both the next run and an import
// make its rows those that a rebuild from nothing has.
func TestKilledAtEveryWrite(t *testing.T) {
	slowtest.Skip(t)
	if what, dir, ok := strings.Cut(os.Getenv(recordVariable), ":"); ok {
		record(t, what, dir)
		return
	}
	t.Parallel()
	fresh := newLongNight(t, t.TempDir())
	fresh.reads()
	want := fresh.rows()
	for _, what := range []string{"import", "live"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtEveryWrite$")
			cmd.Env = append(os.Environ(), recordVariable+"="+what+":"+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			left, err := filepath.Glob(filepath.Join(dir, "left", "*"))
			if err != nil || len(left) < 300 {
				t.Fatalf("%d different states, %v", len(left), err)
			}
			step := len(left)/120 | 1 // a batch changes the files more often than that
			if testing.Short() {
				step = len(left)/12 | 1
			}
			n := newLongNight(t, filepath.Join(dir, "again"))
			for i := 0; i < len(left); i += step {
				n.takes(left[i])
				if i%2 == 0 {
					n.goesOn()
				} else {
					n.reads()
				}
				if got := n.rows(); got != want {
					t.Fatalf("state %d of %d: got\n%s\nwant\n%s", i+1, len(left), got, want)
				}
			}
			t.Logf("%d states", len(left))
		})
	}
}

// takes puts the files of a ledger in the place of those that are there.
func (n *longNight) takes(from string) {
	n.t.Helper()
	old, err := filepath.Glob(filepath.Join(n.dir, "*.db*"))
	for _, name := range old {
		err = cmp.Or(err, os.Remove(name))
	}
	if err = cmp.Or(err, os.CopyFS(n.dir, os.DirFS(from))); err != nil {
		n.t.Fatal(err)
	}
}

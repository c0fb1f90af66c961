package worktree

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/attempts/artifact"
)

const (
	ledger  = ".ledgersync/ledger.jsonl"
	relays  = `{"id":"4f1e6a3c-7ad3-5a0f-9a0b-3f6f2f1b0c11","tags":["relay"]}` + "\n"
	relays2 = `{"id":"4f1e6a3c-7ad3-5a0f-9a0b-3f6f2f1b0c12","tags":["relay"]}` + "\n"
	agents  = `{"id":"agent"}` + "\n"
	persons = `{"id":"person"}` + "\n"
)

// recordsLab is a checkout that has a ledger, and folders for records that git does not ignore.
func recordsLab(t *testing.T, tracked bool) *lab {
	t.Helper()
	l := newTreeLab(t)
	l.Write(".ledgersync/notes.md", "notes\n")
	if tracked {
		l.Write(ledger, persons)
	}
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "Notes")
	l.tree.Records = &RecordsApart{Repo: l.Open()}
	l.tree.User.Also = func(p string) bool { return OwnRecordFile(l.Root, p) }
	l.begin()
	return l
}

// add is what somebody appends to the ledger.
func (l *lab) add(lines ...string) {
	l.Helper()
	text, _ := os.ReadFile(filepath.Join(l.Root, ledger))
	l.Write(ledger, string(text)+strings.Join(lines, ""))
}

func (l *lab) wantLedger(want ...string) {
	l.Helper()
	text, _ := os.ReadFile(filepath.Join(l.Root, ledger))
	if string(text) != strings.Join(want, "") {
		l.Errorf("the ledger is\n%s\nwant\n%s", text, strings.Join(want, ""))
	}
}

// handoff writes an artifact as relay does, and returns its path.
func (l *lab) handoff() string {
	l.Helper()
	w, err := artifact.Open(l.Root, nil)
	if err != nil {
		l.Fatal(err)
	}
	defer w.Close()
	l.Write("thoughts/notes.md", "mine\n") // a folder that is there is used as it is
	a := artifact.New(artifact.Handoff, "goal", "now", artifact.Failed, artifact.Origin{
		Date: time.Date(2026, 1, 11, 22, 0, 0, 0, time.UTC), Session: "lab", PrimaryBead: "lab", SessionID: "run",
	})
	a.Metadata = map[string]any{"relay": map[string]any{"run": "run"}}
	name, err := w.Put(a, "lab")
	if err != nil {
		l.Fatal(err)
	}
	l.Sh("rm thoughts/notes.md")
	return name
}

// What is added to records beside the work is never committed by relay, and never taken back.
func TestRecordsAreNoWork(t *testing.T) {
	t.Parallel()
	for name, tracked := range map[string]bool{"tracked": true, "not tracked": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := recordsLab(t, tracked)
			was, seed := l.Git("rev-parse", "HEAD"), ""
			if tracked {
				seed = persons
			}
			l.add(relays)
			handoff := l.handoff()
			text := l.Sh("cat " + handoff)
			if head := l.leftovers(); head != was {
				t.Errorf("committed: %s", l.Git("show", "--stat", head))
			}
			l.wantLedger(seed, relays)
			l.Git("add", "-A") // as an agent does
			l.add(agents, relays2)
			if head := l.leftovers(); head != was {
				t.Errorf("committed: %s", l.Git("show", "--stat", head))
			}
			l.wantLedger(seed, relays, agents, relays2)
			l.Git("add", "-A")
			l.Git("commit", "-q", "-m", "All")
			l.restore(was)
			l.wantLedger(seed, relays, agents, relays2)
			l.Wants(map[string]string{handoff: text + "\n"})
			if got := l.Git("diff", "--cached", "--name-only"); got != "" {
				t.Errorf("staged: %s", got)
			}
		})
	}
}

// Where records are protected, additions do not count; and what a relay has kept out that was killed comes back.
func TestRecordsAreKeptOut(t *testing.T) {
	t.Parallel()
	l := recordsLab(t, true)
	was := l.Git("rev-parse", "HEAD")
	all := func(string) bool { return true }
	l.add(relays)
	if changed, err := l.tree.PutBack(t.Context(), was, all); err != nil || len(changed) > 0 {
		t.Errorf("put back: %v, %v", changed, err)
	}
	l.Write(".git/relay-records", `{".ledgersync/ledger.jsonl":`+strconv.Quote(persons+relays+relays2)+"}")
	l.Write(ledger, persons)
	l.restore(was)
	l.wantLedger(persons, relays, relays2)
	l.Write(ledger, agents)
	if changed, err := l.tree.PutBack(t.Context(), was, all); err != nil || len(changed) != 1 {
		t.Errorf("put back: %v, %v", changed, err)
	}
	l.wantLedger(persons, agents)
}

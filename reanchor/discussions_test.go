package reanchor

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/epic"
)

// openLedger opens the ledger of discussions, so many hours before noon.
func openLedger(t *testing.T, top string, hours int) *discussion.Ledger {
	t.Helper()
	l, err := discussion.Open(top, discussion.Options{By: "ada", Now: func() time.Time { return noon.Add(-time.Duration(hours) * time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func topics(in *Input) (list []string) {
	for _, thread := range in.Threads {
		topic, _, _ := strings.Cut(thread.Question, " (discussion")
		list = append(list, topic)
	}
	return list
}

func TestOpenDiscussionsOfATasksFiles(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	r := NewRecordReader(top, "lab", clock)
	in := Input{Task: epic.Task{ID: "T1", Files: []string{"src/**/*.go", "docs/a.md", "Makefile"}}}
	r.Fill(&in)
	if len(in.Threads) > 0 {
		t.Fatal(in.Threads)
	}
	l := openLedger(t, top, 48)
	for _, o := range []discussion.Opening{
		{Topic: "Split src/login/user.go?", Summary: "It grows.", Positions: []discussion.Position{{By: "ben", Stance: "Keep it", Rationale: "x"}}},
		{Topic: "Other", Summary: "see web/a.ts, e.g. there"},
		{Topic: "拆分docs/a.md。"},
		{Topic: "Folder", Summary: "all of `src/login/`"},
		{Topic: "Build", Positions: []discussion.Position{{By: "ada", Stance: "no (Makefile)", Rationale: "y"}}},
		{Topic: "Absolute", Summary: filepath.Join(top, "docs", "a.md") + "."},
		{Topic: "Gate", Origin: "lab/T1/r1/7"},
		{Topic: "Other gate", Origin: "lab/T11/r1/7"},
		{Topic: "Done", Summary: "docs/a.md"},
	} {
		o.Status = discussion.Exploring
		if _, err := l.Append(o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Mark("done", discussion.Accepted, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := openLedger(t, top, 1).Mark("split", discussion.Tentative, "next week"); err != nil {
		t.Fatal(err)
	}
	r.Fill(&in)
	want := "拆分docs/a.md。 Split src/login/user.go? Gate Folder Build Absolute"
	if got := strings.Join(topics(&in), " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	split := Thread{By: "ada", Age: "1 hour ago", Question: "Split src/login/user.go? (discussion 2026-01-10_split-src-login-user-go, tentative); ben: Keep it; last: next week; It grows."}
	if in.Threads[1] != split {
		t.Errorf("%+v", in.Threads[1])
	}
	in.Threads, in.Task = nil, epic.Task{ID: "T2"}
	if r.Fill(&in); len(in.Threads) > 0 {
		t.Error(in.Threads)
	}
	if err := os.RemoveAll(filepath.Join(top, discussion.TopFolder)); err != nil {
		t.Fatal(err)
	}
	in.Task = epic.Task{ID: "T1"}
	if r.Fill(&in); len(in.Threads) > 0 {
		t.Error(in.Threads)
	}
}

// Of many discussions a brief is told the newest.
func TestFewDiscussionsAreTold(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for n := range 10 {
		_, err := openLedger(t, top, 100-n).Append(discussion.Opening{Topic: strings.Repeat("x", n+1) + " a.go", Summary: strings.Repeat("y", 1<<16), Status: discussion.Unresolved})
		if err != nil {
			t.Fatal(err)
		}
	}
	in := Input{Task: epic.Task{ID: "T1", Files: []string{"a.go"}}}
	NewRecordReader(top, "lab", clock).Fill(&in)
	if got := topics(&in); len(got) != 8 || got[0] != strings.Repeat("x", 10)+" a.go" || len(in.Threads[0].Question) > 600 {
		t.Errorf("%d: %q", len(got), got)
	}
}

// What an agent of another task noted on a discussion of a task's files is told when its work landed, also of a closed one. A discussion
// that relay opened about the task before the user answered is not open to it, and one about a gate tells it something only when somebody
// wrote on it.
func TestDiscussionsAfterWorkAndAnswers(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	l := openLedger(t, top, 9)
	for _, o := range []discussion.Opening{{Topic: "Split a.go?"}, {Topic: "Old gate of a.go", Origin: "lab/T1/r1/7/gate"}, {Topic: "Its b.go"}} {
		o.Status = discussion.Unresolved
		if _, err := l.Append(o); err != nil {
			t.Fatal(err)
		}
	}
	later := openLedger(t, top, 4)
	for _, o := range []discussion.Opening{{Topic: "New gate", Origin: "lab/T1/r2/9/gate"}, {Topic: "Mute gate of a.go", Origin: "lab/T1/r2/12/gate"}} {
		o.Status = discussion.Unresolved
		if _, err := later.Append(o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := later.Mark("new", discussion.Unresolved, "Try the other template."); err != nil {
		t.Fatal(err)
	}
	for _, mark := range [][2]string{{"codex T2/1", "Split it in two."}, {"codex T2/2", "It is split."}, {"codex T1/1", "Own."}, {"T2/2 review", "No."}} {
		agent, err := discussion.Open(top, discussion.Options{By: mark[0], Now: func() time.Time { return noon.Add(-time.Hour) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = agent.Close() })
		for _, id := range []string{"split", "its"} {
			if _, err := agent.Mark(id, discussion.Accepted, mark[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	in := Input{Task: epic.Task{ID: "T1", Files: []string{"a.go"}}, Landed: []string{"T2/2"}}
	in.Record.Answers = []attempts.Answer{{At: noon.Add(-5 * time.Hour)}}
	NewRecordReader(top, "lab", clock).Fill(&in)
	if got := strings.Join(topics(&in), ", "); got != "New gate" {
		t.Errorf("open: %s", got)
	}
	want := Entry{By: "codex T2/2", Age: "1 hour ago", Files: []string{".ledger/entries/2026-01-12_split-a-go.yaml"}, Text: "Split a.go?, accepted: It is split."}
	if len(in.Entries) != 1 || !reflect.DeepEqual(in.Entries[0], want) {
		t.Errorf("%+v", in.Entries)
	}
}

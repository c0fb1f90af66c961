package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func metadata(tb testing.TB, o Origin, in, out int64) string {
	tb.Helper()
	text, err := Metadata{Version: 3, Type: 2, Tokens: &Tokens{in, out}, Relay: o}.JSON()
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// night is two sessions of one run, one of another, and a fork.
func night(tb testing.TB) []Batch {
	tb.Helper()
	first := Origin{Run: "r1", Task: "T1", Attempt: 1}
	b := conversation()
	for i, cost := range []float64{0, 0.25, 0.5, 0.125} {
		first.CostUSD = cost
		b.Messages[i].MetadataJSON = metadata(tb, first, 10, int64(i))
	}
	b.Turns = b.Turns[1:]
	return []Batch{b, {
		Sessions: []Session{
			{ID: "s2", Source: "codex", Model: "gpt", CreatedAt: 7000, ContextJSON: `{"fork":"m3"}`},
			{ID: "review", Source: "codex", Model: "gpt", CreatedAt: 6000, ForceMode: "ask"},
			{ID: "s3", Source: "codex", CreatedAt: 9000},
		},
		Messages: []Message{
			{ID: "n1", Session: "s2", Role: User, Content: "now Do it DIFFERENTLY", Timestamp: 7000},
			{ID: "n2", Session: "s2", Role: Assistant, Content: "differently it is", Sequence: 1, Timestamp: 7001, MetadataJSON: metadata(tb, Origin{Run: "r2", Task: "T2", CostUSD: 2}, 1, 1)},
			{ID: "v1", Session: "review", Role: User, Content: "judge it", MetadataJSON: metadata(tb, Origin{Run: "r1", Task: "T1", Reviewer: "strict", Round: 1}, 0, 0)},
			{ID: "x1", Session: "s3", Role: User, Content: "broken", MetadataJSON: "{"},
		},
		Turns: []Turn{
			{ID: "n2", Session: "s2", Parent: "m3", QueryMessages: `["n1"]`, Response: "n2", Timestamp: 7001},
			{ID: "n9", Session: "s3", Parent: "n2", QueryMessages: "[", Timestamp: 9001},
		},
		ToolCalls: []ToolCall{
			{ID: "u1", Session: "s2", Message: "n2", Tool: "shell", Status: Failed, ResultJSON: `{"out":"FAIL\tpackage\nexit 1"}`},
			{ID: "u2", Session: "s2", Message: "n2", Tool: "shell", Number: 1, Status: Completed},
			{ID: "u3", Session: "s2", Message: "n2", Tool: "read", Number: 2, Status: Rejected},
			{ID: "u4", Session: "s2", Tool: "read", Number: 3, Status: Cancelled},
		},
	}}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := OpenReadOnly(t.Context(), dir); !errors.Is(err, ErrMissing) || err.Error() != "agents-ledger.db: there is no agents ledger yet" {
		t.Errorf("got %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("files: %v, %v", files, err)
	}
	opened(t, dir)
	change(t, filepath.Join(dir, File), "PRAGMA user_version = 2")
	if _, err := OpenReadOnly(t.Context(), dir); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	r := reader(t, night(t)...)
	for id, want := range map[string]string{
		"s1": "s1", "rev": "review", "task-t1": "task-t1", "t": "task-t1",
		"s":      "several sessions begin with s: s1, s2",
		"reviwe": "the agents ledger has no session reviwe",
		"":       "the agents ledger has no session ",
		"zzz":    "the agents ledger has no session zzz",
	} {
		s, err := r.Find(t.Context(), id)
		got := s.ID
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	r := reader(t, night(t)...)
	for want, f := range map[string]Filter{
		"s1/r1/T1 task-t1/r1/T1 review/r1/T1 s2/r2/T2 s3//": {},
		"s1/r1/T1 task-t1/r1/T1 review/r1/T1":               {Task: "T1"},
		"review/r1/T1 s2/r2/T2 s3//":                        {Runner: "codex"},
		"s2/r2/T2":                                          {Run: "r2", Task: "T2", Runner: "codex"},
		"":                                                  {Run: "r2", Task: "T1"},
	} {
		list, err := r.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range list {
			got = append(got, l.ID+"/"+l.Origin.Run+"/"+l.Origin.Task)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: got %v, want %s", f, got, want)
		}
	}
}

// The queries that the format's documentation names, each answered as it says.
func TestQueryPatterns(t *testing.T) {
	t.Parallel()
	r := reader(t, night(t)...)
	said, err := r.Conversation(t.Context(), "s1", Part{})
	if got := fmt.Sprint(idsOf(said), said[1].Calls[0].ChildSession); err != nil || got != "[m1 m2 m3]task-t1" {
		t.Errorf("conversation: %v, %v", got, err)
	}
	said, err = r.Conversation(t.Context(), "s1", Part{From: 1, Most: 1})
	if got := fmt.Sprint(idsOf(said)); err != nil || got != "[m2]" {
		t.Errorf("page: %v, %v", got, err)
	}
	said, err = r.Conversation(t.Context(), "s1", Part{Spoken: true})
	if got := fmt.Sprint(idsOf(said)); err != nil || got != "[m1 m3]" {
		t.Errorf("spoken: %v, %v", got, err)
	}
	if loose, err := r.Loose(t.Context(), "s1"); err != nil || len(loose) > 0 {
		t.Errorf("loose subagents: %v, %v", loose, err)
	}
	tools, err := r.Tools(t.Context(), "s2")
	if got := fmt.Sprint(tools); err != nil || got != "[{read 2 0 0 1 1 0} {shell 2 1 1 0 0 0.5}]" {
		t.Errorf("tools: %v, %v", got, err)
	}
	if tools, err = r.Tools(t.Context(), ""); err != nil || len(tools) != 3 {
		t.Errorf("tools of all: %v, %v", tools, err)
	}
}

func idsOf(said []Said) (ids []string) {
	for _, s := range said {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestTurns(t *testing.T) {
	t.Parallel()
	r := reader(t, night(t)...)
	// A tree from any of its turns: what it follows, and what follows it, in other sessions too.
	for session, want := range map[string]string{"s1": "m3(n2(n9))", "s2": "m3(n2(n9))", "s3": "m3(n2(n9))", "review": ""} {
		roots, err := r.Tree(t.Context(), session)
		if got := drawn(roots); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", session, got, err, want)
		}
	}
	e, err := r.Exchange(t.Context(), "s1", 1)
	if err != nil || e.ID != "m3" || e.From != 0 || e.To != 0 {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := r.Exchange(t.Context(), "s1", 2); err == nil || err.Error() != "the session does not have turn 2: it has 1" {
		t.Errorf("got %v", err)
	}
}

func drawn(nodes []*Node) string {
	var all []string
	for _, n := range nodes {
		text := n.ID
		if len(n.Children) > 0 {
			text += "(" + drawn(n.Children) + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	r := reader(t, night(t)...)
	for query, want := range map[string]string{
		"differently":    "n2: differently it is; n1: now Do it DIFFERENTLY",
		"do differ*":     "n1: now Do it DIFFERENTLY",
		"package":        `u1: {"out":"FAIL package exit 1"}`,
		"found it":       `t1: "found it"`,
		"no such":        "",
		"":               "",
		`" * ( OR NEAR`:  "",
		"FERENT":         "n2: differently it is; n1: now Do it DIFFERENTLY",
		"it AND NOT":     "",
		"DIFFERENTLY* *": "n2: differently it is; n1: now Do it DIFFERENTLY",
	} {
		hits, err := r.Search(t.Context(), strings.Fields(query), 10)
		var got []string
		for _, h := range hits {
			got = append(got, h.ID+": "+h.Snippet)
		}
		if err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%q: got %q, %v, want %q", query, got, err, want)
		}
	}
	hits, err := r.Search(t.Context(), []string{"it is"}, 10)
	if err != nil || len(hits) != 2 || hits[0].Origin.Task != "T2" || hits[0].Role != Assistant {
		t.Errorf("words that belong together: %+v, %v", hits, err)
	}
	if hits, err := r.Search(t.Context(), []string{"it"}, 1); err != nil || len(hits) != 1 {
		t.Errorf("one of many: %v, %v", hits, err)
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("äbc ", 100) + "needle" + strings.Repeat(" xyz", 100)
	got := snippet(long, strings.Index(long, "needle"))
	if !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") || !strings.Contains(got, "äbc needle xyz") || len(got) > 260 {
		t.Errorf("got %q", got)
	}
	if got := snippet("nothing of it", 0); got != "nothing of it" {
		t.Errorf("got %q", got)
	}
}

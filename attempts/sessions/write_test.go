package sessions

import (
	"errors"
	"strings"
	"testing"
)

// conversation is a session with a subagent, in an order that only Write can sort out.
func conversation() Batch {
	return Batch{
		Sessions: []Session{
			{ID: "task-t1", Source: "claude-code", CreatedAt: 1000, ParentSession: "s1", ParentMessage: "m2", ToolCall: "t1", TaskDescription: "look", TaskStatus: Completed, IsSubagent: true},
			{ID: "s1", Source: "claude-code", Model: "opus", Project: "demo", CreatedAt: 1000, IsAgentic: true, ForceMode: "agent", Workspace: "/w", ContextLimit: 200000, ContextUsed: 300, MessageCount: 77, RawJSON: "{}", Summary: "done"},
		},
		Messages: []Message{
			{ID: "m1", Session: "s1", Role: User, Content: "do it", Sequence: 0, Timestamp: 1000},
			{ID: "m2", Session: "s1", Role: Assistant, Sequence: 1, Timestamp: 1500, IsAgentic: true, MetadataJSON: `{"_v":3}`},
			{ID: "m3", Session: "s1", Role: Assistant, Content: "it is done", Sequence: 2, Timestamp: 2000, IsAgentic: true},
			{ID: "c1", Session: "task-t1", Role: User, Content: "look", Sequence: 0, Timestamp: 1600},
		},
		Turns: []Turn{
			{ID: "m5", Session: "s1", Parent: "m3", Response: "m5"},
			{ID: "m3", Session: "s1", QueryMessages: `["m1"]`, Response: "m3", Model: "opus", Tokens: 12, Timestamp: 2000, ToolCalls: 1, HasChildren: false},
		},
		ToolCalls: []ToolCall{
			{ID: "t1", Message: "m2", Session: "s1", Tool: "Task", Number: 0, ParamsJSON: `{"a":1}`, ResultJSON: `"found\nit"`, Status: Completed, ChildSession: "task-t1", StartedAt: 1500, CompletedAt: 1900},
		},
	}
}

func rowsOf(t *testing.T, d *DB) []string {
	t.Helper()
	var all []string
	for _, table := range []string{"agent_sessions", "agent_messages", "agent_turns", "agent_tool_calls"} {
		all = append(all, list(t, d.rows, "SELECT * FROM "+table+" ORDER BY id")...)
	}
	return all
}

func TestWrite(t *testing.T) {
	t.Parallel()
	d := opened(t, t.TempDir())
	want := `s1|claude-code|opus|demo|1000|3|-|-|-|-|-|0|200000|300|1|agent|/w|-|-|{}|done
task-t1|claude-code|-|-|1001|1|s1|m2|t1|look|completed|1|-|-|0|-|-|-|-|-|-
c1|task-t1|user|look|0|1600|-|0|0|-|-|-
m1|s1|user|do it|0|1000|-|0|0|-|-|-
m2|s1|assistant||1|1500|-|1|0|-|-|{"_v":3}
m3|s1|assistant|it is done|2|2000|-|1|0|-|-|-
m3|s1|-|["m1"]|m3|opus|12|2000|1|1
m5|s1|m3|-|m5|-|-|-|0|0
t1|m2|s1|Task|0|{"a":1}|"found\nit"|completed|task-t1|1500|1900`
	for range 2 { // a batch written again changes nothing
		if err := d.Write(t.Context(), conversation()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(rowsOf(t, d), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		sound(t, d)
	}

	// Its rows can come one by one, and be replaced; a parent that turns out to have begun later moves those below it.
	change := Batch{
		Sessions: []Session{{ID: "s1", Source: "claude-code", CreatedAt: 5000}},
		Messages: []Message{{ID: "m3", Session: "s1", Role: Assistant, Content: "it really is", Sequence: 2}},
		Marks:    []Mark{{Stream: "runs/r/T1/1/transcript.jsonl", Offset: 10, State: "{}"}},
	}
	if err := d.Write(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if got := list(t, d.rows, "SELECT id, created_at, message_count FROM agent_sessions ORDER BY id"); strings.Join(got, " ") != "s1|5000|3 task-t1|5001|1" {
		t.Errorf("got %v", got)
	}
	if got := list(t, d.rows, "SELECT content FROM agent_messages WHERE id = 'm3'"); got[0] != "it really is" {
		t.Errorf("got %v", got)
	}
	m, ok, err := d.Mark(t.Context(), change.Marks[0].Stream)
	if err != nil || !ok || m != change.Marks[0] {
		t.Errorf("mark %v, %v, %v", m, ok, err)
	}
	if err := errors.Join(d.Unmark(t.Context(), m.Stream), d.Unmark(t.Context(), "none")); err != nil {
		t.Error(err)
	}
	if _, ok, err := d.Mark(t.Context(), m.Stream); ok || err != nil {
		t.Errorf("it is still there, %v", err)
	}
}

// sound checks a ledger as SQLite does.
func sound(tb testing.TB, d *DB) {
	tb.Helper()
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		if got := strings.Join(list(tb, d.rows, "PRAGMA "+pragma), " "); got != "ok" && got != "" {
			tb.Errorf("%s: %s", pragma, got)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	d := opened(t, t.TempDir())
	if err := d.Write(t.Context(), conversation()); err != nil {
		t.Fatal(err)
	}
	before := strings.Join(rowsOf(t, d), "\n")
	session := []Session{{ID: "s2", Source: "codex"}}
	for want, b := range map[string]Batch{
		`message "m1" of session "s2" has the id of a row of another session`:   {Sessions: session, Messages: []Message{{ID: "m1", Session: "s2", Role: User}}},
		`turn "m3" of session "s2" has the id of a row of another session`:      {Sessions: session, Turns: []Turn{{ID: "m3", Session: "s2"}}},
		`tool call "t1" of session "s2" has the id of a row of another session`: {Sessions: session, ToolCalls: []ToolCall{{ID: "t1", Session: "s2"}}},
		"constraint failed: FOREIGN KEY":                                        {Sessions: []Session{{ID: "s3", Source: "codex", ParentSession: "none"}}},
		`message "m9": constraint failed: UNIQUE`:                               {Messages: []Message{{ID: "m9", Session: "s1", Role: User, Sequence: 2}}},
	} {
		err := d.Write(t.Context(), b)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, taken := errors.AsType[*TakenError](err); taken != strings.Contains(want, "of another session") {
			t.Errorf("%v is a %T", err, err)
		}
	}
	if after := strings.Join(rowsOf(t, d), "\n"); after != before {
		t.Errorf("rows have changed:\n%s", after)
	}
	sound(t, d)
}

func TestForget(t *testing.T) {
	t.Parallel()
	d := opened(t, t.TempDir())
	other := Batch{
		Sessions:  []Session{{ID: "s2", Source: "codex"}},
		Messages:  []Message{{ID: "n1", Session: "s2", Role: User, Content: "stays"}},
		Turns:     []Turn{{ID: "m3-branch", Session: "s2", Parent: "m3"}},
		ToolCalls: []ToolCall{{ID: "u1", Session: "s2", Message: "c1", ChildSession: "task-t1"}},
	}
	if err := errors.Join(d.Write(t.Context(), conversation()), d.Write(t.Context(), other)); err != nil {
		t.Fatal(err)
	}
	all := rowsOf(t, d)
	if err := d.Forget(t.Context(), "s1", "none"); err != nil {
		t.Fatal(err)
	}
	want := "s2|codex|-|-|-|1|-|-|-|-|-|0|-|-|0|-|-|-|-|-|-\nn1|s2|user|stays|0|-|-|0|0|-|-|-\nm3-branch|s2|m3|-|-|-|-|-|0|0\nu1|-|s2|-|0|-|-|-|-|-|-"
	if got := strings.Join(rowsOf(t, d), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	sound(t, d)
	if err := errors.Join(d.Write(t.Context(), conversation()), d.Write(t.Context(), other)); err != nil {
		t.Fatal(err)
	}
	if got := rowsOf(t, d); strings.Join(got, "\n") != strings.Join(all, "\n") {
		t.Errorf("written anew:\n%s\nbefore\n%s", strings.Join(got, "\n"), strings.Join(all, "\n"))
	}
	if err := d.Forget(t.Context(), "task-t1"); err != nil {
		t.Fatal(err)
	}
	sound(t, d)
	if err := d.Shrink(t.Context()); err != nil {
		t.Error(err)
	}
	sound(t, d)
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"plain"`: `"plain"`, `"a\nb\tc\"d\\e"`: `"a b c"d\e"`, `{"out":"a\r\n\\n"}`: `{"out":"a  \n"}`,
	} {
		if got := spoken.Replace(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

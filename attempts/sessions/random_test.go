package sessions

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// randomBatches are batches of sessions with subagents, as streams bring them: bit by bit, with rows written again.
func randomBatches(r *rand.Rand) (batches []Batch) {
	var known []string
	next := map[string]int64{}
	for range 2 + r.IntN(6) {
		var b Batch
		for range r.IntN(4) {
			s := Session{ID: fmt.Sprintf("s%d", len(known)), Source: "codex", CreatedAt: r.Int64N(50)}
			if len(known) > 0 && r.IntN(2) == 0 {
				s.ParentSession, s.IsSubagent = known[r.IntN(len(known))], true
			}
			known = append(known, s.ID)
			b.Sessions = append(b.Sessions, s)
		}
		for range r.IntN(30) {
			if len(known) == 0 {
				break
			}
			session := known[r.IntN(len(known))]
			m := Message{ID: fmt.Sprintf("%s-%d", session, next[session]), Session: session, Role: Assistant, Content: strings.Repeat("word ", r.IntN(20)), Sequence: next[session]}
			next[session]++
			b.Messages = append(b.Messages, m)
			b.Turns = append(b.Turns, Turn{ID: m.ID, Session: session, Parent: fmt.Sprintf("%s-%d", known[r.IntN(len(known))], r.IntN(5)), Response: m.ID})
			b.ToolCalls = append(b.ToolCalls, ToolCall{ID: "call-" + m.ID, Message: m.ID, Session: session, ChildSession: known[r.IntN(len(known))], ResultJSON: `"a\nresult"`})
		}
		r.Shuffle(len(b.Sessions), func(i, j int) { b.Sessions[i], b.Sessions[j] = b.Sessions[j], b.Sessions[i] })
		batches = append(batches, b)
	}
	return batches
}

func TestRandomBatches(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		batches := randomBatches(rand.New(rand.NewPCG(seed, 1)))
		whole := opened(t, t.TempDir())
		for _, b := range batches {
			if err := whole.Write(t.Context(), b); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		sound(t, whole)
		if got := list(t, whole.rows, "SELECT s.id FROM agent_sessions AS s JOIN agent_sessions AS p ON p.id = s.parent_session_id WHERE s.created_at <= p.created_at"); len(got) > 0 {
			t.Errorf("seed %d: no later than their parents: %v", seed, got)
		}
		if got := list(t, whole.rows, "SELECT id FROM agent_sessions AS s WHERE message_count <> (SELECT count(*) FROM agent_messages WHERE session_id = s.id)"); len(got) > 0 {
			t.Errorf("seed %d: miscounted: %v", seed, got)
		}
		before := rowsOf(t, whole)
		for _, b := range batches { // telling it again changes nothing
			if err := whole.Write(t.Context(), b); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if strings.Join(rowsOf(t, whole), "\n") != strings.Join(before, "\n") {
			t.Errorf("seed %d: the same batches give other rows the second time", seed)
		}
		sound(t, whole)
	}
}

// TestSQLiteProgram opens the file with SQLite's own program, and asks it what the format's documentation asks.
func TestSQLiteProgram(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("there is no program sqlite3 here")
	}
	dir := t.TempDir()
	d := opened(t, dir)
	for _, b := range append(night(t), randomBatches(rand.New(rand.NewPCG(1, 2)))[0]) {
		if err := d.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	tree := "WITH RECURSIVE turn_tree AS (SELECT * FROM agent_turns WHERE id = 'm3' UNION ALL SELECT t.* FROM agent_turns t JOIN turn_tree tt ON t.parent_turn_id = tt.id) SELECT id FROM turn_tree"
	for query, want := range map[string]string{
		"PRAGMA integrity_check":   "ok",
		"PRAGMA foreign_key_check": "",
		"SELECT id, role FROM agent_messages WHERE session_id = 's1' ORDER BY sequence":                                                                                                     "m1|user\nm2|assistant\nm3|assistant",
		"WITH RECURSIVE tt AS (SELECT * FROM agent_turns WHERE id = 'n9' UNION ALL SELECT t.* FROM agent_turns t JOIN tt ON t.id = tt.parent_turn_id) SELECT id FROM tt ORDER BY timestamp": "m3\nn2\nn9",
		tree: "m3\nn2\nn9",
		"SELECT id FROM agent_sessions WHERE parent_session_id = 's1'": "task-t1",
		"SELECT tool_name, count(*) AS uses, sum(CASE WHEN status = 'completed' THEN 1 ELSE 0 END) FROM agent_tool_calls WHERE session_id = 's2' GROUP BY tool_name ORDER BY uses DESC, 1": "read|2|0\nshell|2|1",
	} {
		out, err := exec.CommandContext(t.Context(), program, "-batch", filepath.Join(dir, File), query).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", query, got, err, want)
		}
	}
}

// killedVariable makes the test binary write to the ledger of a folder until it is killed.
const killedVariable = "RELAY_TEST_SESSIONS"

// TestKilled kills a process while it writes: the next open finds whole batches, and no mark without its rows.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(killedVariable); dir != "" {
		writeForEver(t, dir)
	}
	t.Parallel()
	for after := 1; after <= 9; after += 4 {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), killedVariable+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n < after && lines.Scan(); n++ {
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		d := opened(t, dir)
		if len(d.PutAside()) > 0 {
			t.Fatalf("after %d: put aside: %v", after, d.PutAside())
		}
		if got := list(t, d.rows, "SELECT id FROM agent_sessions AS s WHERE message_count <> 200 OR (SELECT count(*) FROM agent_messages WHERE session_id = s.id) <> 200"); len(got) > 0 {
			t.Errorf("after %d: half a batch: %v", after, got)
		}
		m, _, err := d.Mark(t.Context(), "stream")
		written := list(t, d.rows, "SELECT count(*) FROM agent_sessions")[0]
		if rows := fmt.Sprint(m.Offset); err != nil || m.Offset < int64(after-1) || rows != written && fmt.Sprint(m.Offset+1) != written {
			t.Errorf("after %d: mark %v, sessions %s, %v", after, m, written, err)
		}
		if err := d.Write(t.Context(), batchOf(int(m.Offset), 200)); err != nil { // what has no mark is written again
			t.Error(err)
		}
		sound(t, d)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// batchOf is a session with so many messages.
func batchOf(n, messages int) Batch {
	id := fmt.Sprintf("s%d", n)
	b := Batch{Sessions: []Session{{ID: id, Source: "codex", CreatedAt: 1}}, Marks: []Mark{{Stream: "stream", Offset: int64(n + 1)}}}
	for i := range messages {
		b.Messages = append(b.Messages, Message{ID: fmt.Sprintf("%s-%d", id, i), Session: id, Role: User, Content: "what was said, " + id, Sequence: int64(i)})
	}
	return b
}

func writeForEver(t *testing.T, dir string) {
	t.Helper()
	d := opened(t, dir)
	for n := 0; ; n++ {
		if err := d.Write(t.Context(), batchOf(n, 200)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(n)
	}
}

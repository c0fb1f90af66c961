package sessionkeeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts/sessions"
	"relay/orchestrator/secrets"
	"relay/runners/kinds"
)

// ownTest is a repository, and a home with files that programs keep.
type ownTest struct {
	*testing.T
	top, home, ledger string
}

func newOwnTest(t *testing.T) *ownTest {
	t.Helper()
	return &ownTest{t, t.TempDir(), filepath.Join(t.TempDir(), "home [a]"), t.TempDir()}
}

// file writes a file in the home; TOP in it is the repository.
func (o *ownTest) file(name string, lines ...string) string {
	o.Helper()
	path := filepath.Join(o.home, name)
	text := strings.ReplaceAll(strings.Join(lines, "\n"), "TOP", o.top)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		o.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		o.Fatal(err)
	}
	return path
}

func (o *ownTest) imports(from string) Imported {
	o.Helper()
	done, err := ImportOwn(o.Context(), Options{Top: o.top, Dir: o.ledger}, Own{From: from, Env: []string{"HOME=" + o.home}, Clean: secrets.New(nil).Text})
	if err != nil {
		o.Fatal(err)
	}
	return done
}

// shows returns the conversation of a session: role, text, and calls with their statuses and subagents.
func (o *ownTest) shows(id string) string {
	o.Helper()
	r, err := sessions.OpenReadOnly(o.Context(), o.ledger)
	if err != nil {
		o.Fatal(err)
	}
	defer r.Close()
	said, err := r.Conversation(o.Context(), id, sessions.Part{})
	if err != nil {
		o.Fatal(err)
	}
	var text strings.Builder
	for _, m := range said {
		fmt.Fprintf(&text, "%s: %.60s\n", m.Role, m.Content)
		for _, c := range m.Calls {
			fmt.Fprintf(&text, "  %s %s %s %s %s\n", c.Tool, c.ParamsJSON, c.Status, c.ResultJSON, c.ChildSession)
		}
	}
	return text.String()
}

func (o *ownTest) wants(id, want string) {
	o.Helper()
	if got := o.shows(id); got != want {
		o.Errorf("session %s:\n%swant\n%s", id, got, want)
	}
}

const (
	claudeID   = "9439baf4-bbea-4b2b-a114-51fc15ad5258"
	claudeFile = ".claude/projects/-shop/" + claudeID + ".jsonl"
)

func claudeLine(uuid, more string) string {
	return `{"uuid":"` + uuid + `","sessionId":"` + claudeID + `","cwd":"TOP","timestamp":"2026-11-27T22:00:00Z",` + more + `}`
}

func claudeSays(uuid, text string) string {
	return claudeLine(uuid, `"type":"assistant","message":{"id":"m`+uuid+`","content":[{"type":"text","text":"`+text+`"}]}`)
}

// TestOwnClaude: a file begins with lines that name no folder, was compacted, and repeats lines after it was resumed; a call was rejected,
// a subagent of an earlier version has its lines in the same file, and one in the background has failed.
func TestOwnClaude(t *testing.T) {
	t.Parallel()
	o := newOwnTest(t)
	asks := claudeLine("1", `"type":"user","message":{"content":"Do it."}`)
	o.file(claudeFile, `{"type":"summary","summary":"Earlier work","leafUuid":"0"}`, asks,
		claudeLine("2", `"type":"user","isMeta":true,"message":{"content":"Caveat: local commands."}`), claudeSays("3", "I do it."), asks, claudeSays("3", "I do it."),
		claudeLine("4", `"type":"assistant","message":{"id":"m4","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"rm x"}},{"type":"tool_use","id":"t2","name":"Task","input":{"description":"Look","prompt":"Where?"}},{"type":"tool_use","id":"t3","name":"Agent","input":{"description":"Wait"}}]}`),
		claudeLine("5", `"type":"user","permissionDecision":{"decision":"reject"},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]}`),
		claudeLine("6", `"type":"user","toolUseResult":{"agentId":"a2","status":"completed"},"message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"here"}]}`),
		claudeLine("7", `"type":"user","toolUseResult":{"agentId":"a3","isAsync":true},"message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"on"}]}`),
		claudeLine("8", `"type":"assistant","isSidechain":true,"agentId":"a2","message":{"id":"m8","content":[{"type":"text","text":"Here."}]}`),
		`{"type":"queue-operation","operation":"enqueue","sessionId":"`+claudeID+`","content":"<task-notification><tool-use-id>t3</tool-use-id><status>failed</status></task-notification>"}`,
		claudeLine("9", `"type":"user","isCompactSummary":true,"message":{"content":"This session is being continued."}`),
		claudeLine("10", `"type":"user","message":{"content":"More."}`), claudeSays("11", "Done."), `{"uuid":"12","type":"assis`)
	o.file(strings.TrimSuffix(claudeFile, ".jsonl")+"/subagents/agent-a3.jsonl",
		claudeLine("13", `"type":"user","isSidechain":true,"agentId":"a3","message":{"content":"Wait."}`))
	if done := o.imports(kinds.Claude); done.Sessions != 3 || len(done.Unread)+len(done.LeftOut) > 0 {
		t.Errorf("got %+v", done)
	}
	want := "user: Do it.\nsystem: Caveat: local commands.\nassistant: I do it.\nassistant: \n" +
		`  Bash {"command":"rm x"} rejected "no" ` + "\n" + `  Task {"description":"Look","prompt":"Where?"} completed "here" task-t2` + "\n" +
		`  Agent {"description":"Wait"} completed "on" task-t3` + "\nsystem: This session is being continued.\nuser: More.\nassistant: Done.\n"
	o.imports(kinds.Claude)
	o.wants(claudeID, want)
	o.wants("task-t2", "assistant: Here.\n")
	o.wants("task-t3", "user: Wait.\n")
	r, err := sessions.OpenReadOnly(t.Context(), o.ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for id, status := range map[string]string{"task-t2": sessions.Completed, "task-t3": sessions.Failed} {
		if s, err := r.Find(t.Context(), id); err != nil || s.TaskStatus != status || s.ParentSession != claudeID {
			t.Errorf("%s: %+v, %v", id, s, err)
		}
	}
}

// TestOwnEarlier: the files of an earlier version of Gemini CLI, and of a version of codex whose outputs are JSON.
func TestOwnEarlier(t *testing.T) {
	t.Parallel()
	o := newOwnTest(t)
	o.file(".gemini/tmp/shop/.project_root", "TOP")
	o.file(".gemini/tmp/shop/chats/session-2025-10-01T10-00-0a1b2c3d.json", `{
  "sessionId": "g1", "startTime": "2025-10-01T10:00:00Z", "messages": [
    {"id": "u1", "type": "user", "content": "Do it.", "timestamp": "2025-10-01T10:00:09Z"},
    {"id": "a1", "type": "gemini", "content": "", "timestamp": "2025-10-01T10:00:01Z", "toolCalls": [{"id": "c1", "name": "ls", "args": {}, "status": "cancelled"}]},
    {"id": "i1", "type": "info", "content": "Request cancelled."}]}`)
	o.file(".codex/archived_sessions/rollout-1.jsonl", `{"type":"session_meta","payload":{"id":"x1","cwd":"TOP"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"# AGENTS.md instructions for TOP"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"Do it."}]}}`,
		`{"type":"response_item","payload":{"type":"local_shell_call","call_id":"x","action":{"command":["ls"]}}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"x","output":"{\"output\":\"\",\"metadata\":{\"exit_code\":2}}"}}`,
		`{"type":"compacted","payload":{"message":"So far."}}`)
	for _, from := range []string{kinds.Gemini, kinds.Codex} {
		if done := o.imports(from); done.Sessions != 1 || len(done.Unread)+len(done.LeftOut) > 0 {
			t.Errorf("%s: %+v", from, done)
		}
	}
	o.wants("g1", "user: Do it.\nassistant: \n  ls {} cancelled  \nsystem: Request cancelled.\n")
	if got := o.shows("x1"); !strings.HasPrefix(got, "system: # AGENTS.md") || !strings.Contains(got, "user: Do it.\n  local_shell {\"command\":[\"ls\"]} failed ") ||
		!strings.HasSuffix(got, "system: So far.\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestOwnHostile: a line that is too long, one that is no text, and one that is too deep are noted; a file that cannot be opened or read is
// named, and the others are imported.
func TestOwnHostile(t *testing.T) {
	t.Parallel()
	o := newOwnTest(t)
	o.file(claudeFile, claudeLine("1", `"type":"user","message":{"content":"Do it."}`), claudeSays("2", strings.Repeat("x", 20<<20)), claudeSays("3", "One."),
		"\x00\x00\x00", claudeSays("4", `a\u0000b`), strings.Repeat(`{"a":`, 20_000), claudeSays("5", "Two."))
	other := strings.ReplaceAll(claudeFile, "9439", "9440")
	for name, text := range map[string]string{"9441": "nothing\n", "9442": ""} {
		o.file(strings.ReplaceAll(claudeFile, "9439", name), text)
	}
	if err := os.Symlink(claudeID+".jsonl", filepath.Join(o.home, other)); err != nil {
		t.Fatal(err)
	}
	o.file(".local/share/opencode/opencode.db", "no database")
	done := o.imports(kinds.Claude)
	if done.Sessions != 1 || len(done.Unread) != 2 || !strings.Contains(done.Unread[0], "9440") || !strings.Contains(done.Unread[1], "9441") {
		t.Errorf("got %+v", done)
	}
	if got := o.shows(claudeID); strings.Count(got, "cannot be read") != 3 || !strings.Contains(got, "assistant: One.\n") || !strings.HasSuffix(got, "assistant: Two.\n") {
		t.Errorf("got\n%q", got)
	}
	if done := o.imports(kinds.Opencode); len(done.Unread) != 1 || !strings.Contains(done.Unread[0], "opencode.db: ") {
		t.Errorf("got %+v", done)
	}
}

// TestOwnRecorded: a session that an attempt has recorded stays that, one of another folder is left out, and a message that two sessions
// have, as after a fork, is in both.
func TestOwnRecorded(t *testing.T) {
	t.Parallel()
	o := newOwnTest(t)
	db, err := sessions.Open(t.Context(), o.ledger, sessions.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ours := sessions.Session{ID: claudeID, Source: "claude"}
	mark := sessions.Mark{Stream: sessionMark(claudeID), State: "run/T1/1"}
	if err := db.Write(t.Context(), sessions.Batch{Sessions: []sessions.Session{ours}, Marks: []sessions.Mark{mark}}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"9439", "9440", "9441", "9442"} {
		dir := "TOP/sub"
		if id == "9442" {
			dir = "/elsewhere"
		}
		lines := []string{claudeLine("1", `"type":"user","message":{"content":"Do it."}`), claudeSays("2", "Done.")}
		for i := range lines {
			lines[i] = strings.ReplaceAll(strings.ReplaceAll(lines[i], "9439", id), "TOP", dir)
		}
		o.file(strings.ReplaceAll(claudeFile, "9439", id), lines...)
	}
	for range 2 {
		done := o.imports(kinds.Claude)
		if done.Sessions != 2 || done.LeftOut[errRecorded.Error()] != 1 || done.LeftOut[errElsewhere.Error()] != 1 {
			t.Errorf("got %+v", done)
		}
	}
	o.wants(claudeID, "")
	for _, id := range []string{"9440", "9441"} {
		o.wants(strings.ReplaceAll(claudeID, "9439", id), "user: Do it.\nassistant: Done.\n")
	}
}

// TestOwnBefore: an attempt takes over the session that was imported before.
func TestOwnBefore(t *testing.T) {
	t.Parallel()
	o, n := newOwnTest(t), newNight(t, kinds.Claude)
	o.file(claudeFile, claudeLine("1", `"type":"user","message":{"content":"Mine."}`), claudeSays("2", "Yours."))
	options := Options{Top: o.top, Dir: n.dir}
	own := Own{From: kinds.Claude, Env: []string{"HOME=" + o.home}, Clean: secrets.New(nil).Text}
	if done, err := ImportOwn(t.Context(), options, own); err != nil || done.Sessions != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	n.say(n.begin("", "do it"), `{"type":"system","subtype":"init","session_id":"`+claudeID+`"}`+"\n"+
		`{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Ours."}]}}`+"\n", began, true)
	db, err := sessions.Open(t.Context(), n.dir, sessions.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	w := writer{ctx: t.Context(), db: db}
	if err := errors.Join(w.settle(newAttempt(n.o, n.facts)), db.Commit(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if done, err := ImportOwn(t.Context(), options, own); err != nil || done.LeftOut[errRecorded.Error()] != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	o.ledger = n.dir
	o.wants(claudeID, "user: do it\nassistant: Ours.\n")
}

// TestBackgroundSubagents: a subagent in the background ends when its program says so, not with the call that began it.
func TestBackgroundSubagents(t *testing.T) {
	t.Parallel()
	text := read(t, filepath.Join("testdata", "background.jsonl"))
	for status, lines := range map[string]string{
		sessions.Completed: text,
		sessions.Failed:    strings.Replace(text, `"toolu_stub4","status":"completed"`, `"toolu_stub4","status":"failed"`, 1),
		sessions.Cancelled: strings.Join(slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool {
			return strings.Contains(line, `"task_notification"`) && strings.Contains(line, "toolu_stub4")
		}), ""),
	} {
		n := newNight(t, kinds.Claude)
		n.say(n.begin("", "do it"), lines, began, true)
		rows := n.again()
		if first, second := rows.sessions["task-toolu_stub2"], rows.sessions["task-toolu_stub4"]; first.TaskStatus != sessions.Completed || second.TaskStatus != status {
			t.Errorf("the subagents are %q and %q, not %q", first.TaskStatus, second.TaskStatus, status)
		}
	}
}

// TestOwnSecret: what looks like a secret does not get into the ledger.
func TestOwnSecret(t *testing.T) {
	t.Parallel()
	o := newOwnTest(t)
	o.file(claudeFile, claudeLine("1", `"type":"user","message":{"content":"Use ghp_16C7e42F292c6912E7710c838347Ae178B4a here."}`), claudeSays("2", "Done."))
	o.imports(kinds.Claude)
	if got := o.shows(claudeID); strings.Contains(got, "ghp_16") || !strings.Contains(got, "here.") || !strings.Contains(got, "Done.") {
		t.Errorf("got %s", got)
	}
}

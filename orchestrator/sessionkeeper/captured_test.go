package sessionkeeper

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/runners/kinds"
)

var update = flag.Bool("update", false, "write the goldens anew")

// captured is the folder with the streams of a real CLI; its README says where they are from.
func captured(kind, name string) string {
	return filepath.Join("..", "..", "runners", kind, "testdata", "captured", name+".jsonl")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const began = 1_795_230_000_000 // milliseconds, before all captured streams

// TestCapturedRows holds the rows of real streams: of one that went well, resumed, refused, cut short, out of quota.
func TestCapturedRows(t *testing.T) {
	t.Parallel()
	for kind, streams := range map[string][]string{
		kinds.Claude:   {"session-id resume", "perm-default", "429x2-ok", "long-kill", "schema", "usage"},
		kinds.Codex:    {"sess resume-id", "shell", "outside", "long-kill", "usage"},
		kinds.Gemini:   {"ok resume", "shell", "perm-autoedit-shell", "long-kill", "usage"},
		kinds.Opencode: {"sess resume-id", "shell", "outside-denied", "perm-ask", "cutx1-ok", "429"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, names := range streams {
				n := newNight(t, kind)
				rounds := []string{"", "fix-1"}
				for i, name := range strings.Fields(names) {
					dir := n.begin(rounds[i], "do "+name)
					n.say(dir, read(t, captured(kind, name)), began+int64(i)*1000, true)
				}
				rows := newTable()
				n.look(rows)
				got.WriteString("# " + names + "\n" + rows.text() + "\n")
			}
			golden(t, filepath.Join("testdata", kind+".golden"), got.String())
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); got != want {
		t.Errorf("%s differs; -update writes it anew. got:\n%s", path, got)
	}
}

// TestEveryCapturedMessage counts the messages and calls of every captured stream in its own way, and finds them all in the rows, each
// once.
func TestEveryCapturedMessage(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kinds.Claude, kinds.Codex, kinds.Gemini, kinds.Opencode} {
		files, err := filepath.Glob(captured(kind, "*"))
		if err != nil || len(files) < 20 {
			t.Fatalf("%d streams of %s, %v", len(files), kind, err)
		}
		messages, calls := 0, 0
		for _, file := range files {
			n := newNight(t, kind)
			n.say(n.begin("", "do it"), read(t, file), began, true)
			rows := newTable()
			n.look(rows)
			said := 0
			for _, m := range rows.messages {
				if m.Role == "assistant" {
					said++
				}
			}
			wantSaid, wantCalls := counted(kind, read(t, file))
			if said != wantSaid || len(rows.calls) != wantCalls {
				t.Errorf("%s: %d messages and %d calls in the rows, %d and %d in the stream", file, said, len(rows.calls), wantSaid, wantCalls)
			}
			messages, calls = messages+said, calls+len(rows.calls)
		}
		t.Logf("%s: %d streams, %d messages, %d calls", kind, len(files), messages, calls)
	}
}

// counted counts what the agent said and called, from the stream alone.
func counted(kind, text string) (said, called int) {
	messages, calls := map[string]bool{}, map[string]bool{}
	talking := false
	for line := range strings.SplitSeq(text, "\n") {
		var e map[string]any
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		at := func(path string) any {
			var v any = e
			for key := range strings.SplitSeq(path, ".") {
				m, _ := v.(map[string]any)
				v = m[key]
			}
			return v
		}
		word := func(path string) string { s, _ := at(path).(string); return s }
		was := talking
		talking = false
		switch kind + " " + word("type") {
		case "claude assistant":
			messages[word("message.id")] = true
			blocks, _ := at("message.content").([]any)
			for _, b := range blocks {
				if m, _ := b.(map[string]any); m["type"] == "tool_use" {
					calls[m["id"].(string)] = true
				}
			}
		case "codex item.completed", "codex item.started":
			switch word("item.type") {
			case "agent_message":
				messages[word("item.id")] = true
			case "command_execution", "file_change", "mcp_tool_call", "web_search":
				calls[word("item.id")] = true
			}
		case "gemini message":
			if talking = word("role") == "assistant"; talking && !was {
				said++
			}
		case "gemini tool_use":
			calls[word("tool_id")] = true
		case "opencode text", "opencode tool_use", "opencode step_start":
			messages[word("part.messageID")] = true
			if id := word("part.callID"); id != "" {
				calls[id] = true
			}
		}
	}
	return said + len(messages), len(calls)
}

// FuzzRows fails when rows do not fit together.
func FuzzRows(f *testing.F) {
	for i, kind := range []string{kinds.Claude, kinds.Codex, kinds.Gemini, kinds.Opencode, kinds.Command} {
		name := "shell"
		if kind == kinds.Command {
			f.Add(uint8(i), uint16(100), []byte("hello\nthere"))
			continue
		}
		text, err := os.ReadFile(captured(kind, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), uint16(1000), text)
		f.Add(uint8(i), uint16(10), text[:len(text)/2])
	}
	all := []string{kinds.Claude, kinds.Codex, kinds.Gemini, kinds.Opencode, kinds.Command, ""}
	f.Fuzz(func(t *testing.T, which uint8, cut uint16, text []byte) {
		n := newNight(t, all[int(which)%len(all)])
		dir := n.begin("", "do it")
		head := text[:min(len(text), int(cut))]
		n.say(dir, string(head), began, false)
		n.say(dir, string(text[len(head):]), began+5000, true)
		n.again().fits(t)
	})
}

// fits fails when a row refers to one that is not there, or a session is as old as its parent.
func (r *table) fits(t *testing.T) {
	t.Helper()
	sequence := map[string]map[int64]bool{}
	for id, m := range r.messages {
		if r.sessions[m.Session].ID == "" {
			t.Errorf("message %s has no session", id)
		}
		if sequence[m.Session] == nil {
			sequence[m.Session] = map[int64]bool{}
		}
		if sequence[m.Session][m.Sequence] || !json.Valid([]byte(m.MetadataJSON)) {
			t.Errorf("message %s has the place %d of another, or metadata %s", id, m.Sequence, m.MetadataJSON)
		}
		sequence[m.Session][m.Sequence] = true
	}
	for id, c := range r.calls {
		if r.sessions[c.Session].ID == "" || c.Message != "" && r.messages[c.Message].ID == "" || c.Status == "" {
			t.Errorf("call %s has no session, no message or no status: %+v", id, c)
		}
	}
	for id, s := range r.sessions {
		if parent, ok := r.sessions[s.ParentSession]; s.ParentSession != "" && (!ok || parent.CreatedAt >= s.CreatedAt) {
			t.Errorf("session %s has no parent, or one that is no older", id)
		}
	}
	for id, turn := range r.turns {
		if r.messages[turn.Response].ID == "" || !json.Valid([]byte(turn.QueryMessages)) {
			t.Errorf("turn %s has no answer, or is about %s", id, turn.QueryMessages)
		}
	}
}

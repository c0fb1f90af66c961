package kinds_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"relay/runners"
	"relay/runners/kinds"
)

// seed adds the captured streams of a CLI.
func seed(f *testing.F, kind string) {
	f.Helper()
	for _, name := range []string{"shell", "refusal", "429"} {
		data, err := os.ReadFile(filepath.Join("..", kind, "testdata", "captured", name+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// holds fails when a reader tells something that no row could have.
func holds(t *testing.T, r runners.MessageReader, data []byte) {
	t.Helper()
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		before := bytes.Clone(line)
		read := r.Line(line, func(e runners.Message) {
			if e.Kind < runners.Began || e.Kind > runners.Settled {
				t.Errorf("%q tells an event of no kind: %+v", line, e)
			}
			if e.Kind == runners.Said && e.Role == "" || e.Kind == runners.Returned && e.Status == "" {
				t.Errorf("%q: nobody speaks, or a call ends without a status: %+v", line, e)
			}
			for _, raw := range []json.RawMessage{e.Params, e.Result} {
				if len(raw) > 0 && !json.Valid(raw) {
					t.Errorf("%q: %q is no JSON", line, raw)
				}
			}
			if e.At < 0 || e.Usage.Input < 0 || e.Usage.Output < 0 {
				t.Errorf("%q: time or tokens below nothing: %+v", line, e)
			}
		})
		if !bytes.Equal(line, before) {
			t.Errorf("%q was changed into %q", before, line)
		}
		if !read && json.Valid(line) && len(line) > 0 && line[0] == '{' && utf8.Valid(line) {
			t.Errorf("%q cannot be read", line)
		}
	}
}

// own returns a reader of the files in which a program keeps its sessions.
func own(t *testing.T, kind string) runners.MessageReader {
	t.Helper()
	source, err := kinds.OwnSessions(kind)
	if err != nil {
		t.Fatal(err)
	}
	return source.Reader("session.jsonl")
}

func FuzzClaudeConversation(f *testing.F) {
	seed(f, kinds.Claude)
	f.Add([]byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Task","input":{}}]},"parent_tool_use_id":"p"}`))
	f.Add([]byte(`{"type":"user","sessionId":"s","cwd":"/w","isSidechain":true,"message":{"content":"x"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		holds(t, kinds.Conversation(kinds.Claude), data)
		holds(t, own(t, kinds.Claude), data)
	})
}

func FuzzCodexConversation(f *testing.F) {
	seed(f, kinds.Codex)
	f.Add([]byte(`{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","server":"a","tool":"b","result":{},"status":"declined"}}`))
	f.Add([]byte(`{"type":"session_meta","payload":{"id":"s"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"x"}]}}
{"type":"response_item","payload":{"type":"web_search_call","call_id":"c"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":-1}}}}`))
	f.Add([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{","call_id":"c"}}`))
	f.Add([]byte(`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":-1}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		holds(t, kinds.Conversation(kinds.Codex), data)
		holds(t, own(t, kinds.Codex), data)
	})
}

func FuzzGeminiConversation(f *testing.F) {
	seed(f, kinds.Gemini)
	f.Fuzz(func(t *testing.T, data []byte) { holds(t, kinds.Conversation(kinds.Gemini), data) })
}

func FuzzOpencodeConversation(f *testing.F) {
	seed(f, kinds.Opencode)
	f.Add([]byte(`{"id":"s","directory":"/w","time":{"created":-1}}
{"id":"m","sessionID":"s","role":"assistant","error":{},"time":{"created":-1}}
{"messageID":"m","type":"tool","callID":"c","state":{"status":"error","time":{"start":-1,"end":-1}}}`))
	f.Add([]byte(`{"type":"step_finish","sessionID":"s","part":{"messageID":"m","tokens":{"input":-5,"cache":{"read":-1}},"cost":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) { holds(t, kinds.Conversation(kinds.Opencode), data) })
}

func FuzzCommandConversation(f *testing.F) {
	f.Add([]byte("hello\n\nthere"))
	f.Fuzz(func(t *testing.T, data []byte) { holds(t, kinds.Conversation(kinds.Command), data) })
}

func FuzzCursorConversation(f *testing.F) {
	f.Add([]byte(`{"composerId":"a","createdAt":-1,"conversation":[{"bubbleId":"b","type":1,"text":"x"},{}],"contextTokensUsed":-3}
{"bubbleId":"c","tokenCount":{"inputTokens":-1},"toolFormerData":{"toolCallId":"t","status":"completed","params":"{","result":"{\"agentId\":1}"}}
{"composerId":"b"}
{"bubbleId":"d","createdAt":"2026-01-28T16:09:20Z","text":3}`))
	f.Fuzz(func(t *testing.T, data []byte) { holds(t, own(t, kinds.Cursor), data) })
}

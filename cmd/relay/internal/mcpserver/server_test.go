package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay/attempts/discussion"
	"relay/orchestrator/relayfiles"
)

// options are those of a server whose discussions are in a folder.
func options(tb testing.TB, env map[string]string) Options {
	tb.Helper()
	return optionsIn(tb, tb.TempDir(), env)
}

func optionsIn(tb testing.TB, dir string, env map[string]string) Options {
	tb.Helper()
	now := func() time.Time { return time.Date(2026, 1, 25, 10, 0, 0, 0, time.UTC) }
	l, err := discussion.Open(dir, discussion.Options{By: "ada", Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return Options{
		Version: "test", Redact: strings.Clone, Lookup: func(name string) string { return env[name] }, Now: now,
		Run: func(_ context.Context, args ...string) (string, error) {
			return "", fmt.Errorf("%q is not run here", args)
		},
		Discuss: func(_ context.Context, action string, input []byte) (string, string, error) {
			a, err := l.Call(action, input)
			if err != nil {
				return "", "", err
			}
			text, err := json.Marshal(a)
			return string(text), strings.Join(a.Warnings, "\n"), err
		},
	}
}

// session is a client of a server in this process.
func session(t *testing.T, o Options) *mcp.ClientSession {
	t.Helper()
	s, err := newServer(o)
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// call returns what a tool answers, "refused: " before what it says of an error.
func call(t *testing.T, c *mcp.ClientSession, tool, arguments string) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return "no answer: " + err.Error()
	}
	var texts []string
	for _, content := range r.Content {
		texts = append(texts, content.(*mcp.TextContent).Text)
	}
	text := strings.Join(texts, "\n")
	if r.IsError {
		return "refused: " + text
	}
	return text
}

// A worker reports for its own attempt while that goes on, and once.
func TestWorker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	result, err := relayfiles.Out(filepath.Join(dir, "result.json"), "run/T1/1", false)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"RELAY_ATTEMPT": "run/T1/1", "RELAY_RESULT": result}
	c, again := session(t, options(t, env)), session(t, options(t, env))
	const good = `{"status":"success","summary":"Done."}`
	for _, want := range [][3]string{
		{"report_result", `{"status":"success","summary":"` + strings.Repeat("x", 1<<20) + `"}`, "refused: result has 1048609 bytes, more than 1048576"},
		{"report_progress", `{"message":""}`, "refused: there is no message"},
		{"report_progress", `{}`, `refused: validating "arguments": validating root: required: missing properties: ["message"]`},
		{"report_result", good, "The result is reported. End your work now."},
		{"report_result", good, "refused: a result was reported for this attempt already: it is the one that counts"},
	} {
		if got := call(t, c, want[0], want[1]); got != want[2] {
			t.Errorf("%s %.60s: %s", want[0], want[1], got)
		}
	}
	if got := call(t, again, "report_result", good); got != "refused: a result was reported for this attempt already: it is the one that counts" {
		t.Error(got)
	}
	if text, err := os.ReadFile(result); err != nil || string(text) != good {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.Remove(result); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "out.sha256")); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"report_result", "report_progress"} {
		if got := call(t, c, tool, `{"status":"success","summary":"Done.","message":"x"}`); !strings.HasPrefix(got, "refused: ") {
			t.Errorf("%s after its end: %s", tool, got)
		}
	}
	if got := call(t, c, "report_result", good); got != "refused: the attempt has ended: nothing more can be reported for it" {
		t.Error(got)
	}
	list, err := os.ReadDir(filepath.Dir(result))
	if err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if got := call(t, session(t, options(t, env)), "report_result", good); !strings.Contains(got, `unknown tool "report_result"`) {
		t.Error(got)
	}
}

// Clients that build a form or read arguments by their types take no list that may be null.
func TestSchemasWithoutNull(t *testing.T) {
	t.Parallel()
	result, err := relayfiles.Out(filepath.Join(t.TempDir(), "result.json"), "run/T1/1", false)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for tool, err := range session(t, options(t, map[string]string{"RELAY_ATTEMPT": "run/T1/1", "RELAY_RESULT": result})).Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
			if text, err := json.Marshal(schema); err != nil || bytes.Contains(text, []byte(`"null"`)) {
				t.Errorf("%s: %s, %v", tool.Name, text, err)
			}
		}
		seen++
	}
	if seen != 13 {
		t.Errorf("there are %d tools", seen)
	}
}

// By MCP the schemas say what they say in the library, and nothing is written that they refuse.
func TestSameVerdicts(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	c := session(t, o)
	actions, err := discussion.Actions()
	if err != nil {
		t.Fatal(err)
	}
	inputs := []string{
		`{}`, `[]`, `{"topic":1}`, `{"entry_id":"none"}`, `{"entry_id":"x","new_status":"done"}`, `{"entry_id":["x"]}`,
		`{"topic":"t","summary":"","positions":[{"by":1}],"status":"accepted"}`, `{"current_entry_id":"x","link_to":[{"entry_id":1}]}`,
		`{"current_entry_id":"x","link_to":[]}`, `{"entry_id":"x","new_status":"revived","note":{}}`, `null`, `1`, `"x"`,
	}
	for _, a := range actions {
		for _, in := range inputs {
			want, _, err := o.Discuss(t.Context(), a.Name, []byte(in))
			if err != nil {
				want = "refused: " + err.Error()
			}
			got := call(t, c, a.Name, in)
			if in == "null" { // a call without arguments
				continue
			}
			if got != want {
				t.Errorf("%s %s: %s, want %s", a.Name, in, got, want)
			}
		}
	}
}

// A discussion that is longer than an answer may be is cut, and stays what its schema says.
func TestLongDiscussions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	entries := filepath.Join(dir, filepath.FromSlash(discussion.Folder))
	add := func(name, text string) {
		if err := errors.Join(os.MkdirAll(entries, 0o755), os.WriteFile(filepath.Join(entries, name+".yaml"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	add("long", "topic: Long\nstatus: exploring\nsummary: |-\n"+strings.Repeat("  line \"of it\"\n", 10_000))
	for i := range 400 {
		add(fmt.Sprint("topic-", i), "status: exploring\ntopic: "+strings.Repeat("字", 40)+"\n")
	}
	c := session(t, optionsIn(t, dir, nil))
	for _, tool := range []string{discussion.ActionOpen, discussion.ActionReplay} {
		got := call(t, c, tool, `{"entry_id":"long"}`)
		answer, note, _ := strings.Cut(got, "\n")
		if note != "This is not all. relay discuss open and relay discuss replay print the rest." || len(answer) > MaxAnswer || len(answer) < MaxAnswer/2 {
			t.Errorf("%s: %d bytes, %q", tool, len(answer), note)
		}
		if !json.Valid([]byte(answer)) || !strings.HasPrefix(answer, `{"`) {
			t.Errorf("%s: %.100s", tool, answer)
		}
	}
}

// Whatever a client sends, what is printed is messages of the protocol, and the server ends with its input.
func FuzzServe(f *testing.F) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, seed := range []string{
		"", "\n", "{", "[]", "null", hello, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status","arguments":{"offset":-1}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"report_result","arguments":{"status":"success","summary":"x"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"mark_state","arguments":[]}}`, `{"jsonrpc":"2.0","id":4,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"append_discussion","arguments":{"topic":"\u202e","summary":"","positions":[],"status":"exploring"}}}`,
	} {
		f.Add([]byte(seed))
		f.Add([]byte(hello + "\n" + seed + "\n"))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		result, err := relayfiles.Out(filepath.Join(t.TempDir(), "result.json"), "run/T1/1", false)
		if err != nil {
			t.Fatal(err)
		}
		o := options(t, map[string]string{"RELAY_ATTEMPT": "run/T1/1", "RELAY_RESULT": result})
		var out bytes.Buffer
		o.In, o.Out = io.NopCloser(bytes.NewReader(input)), kept{&out}
		_ = Serve(t.Context(), o)
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("%q", line)
			}
		}
	})
}

// kept is a stream that is not closed.
type kept struct{ io.Writer }

func (kept) Close() error { return nil }

package claude_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/claude"
	"relay/runners/process"
	"relay/runners/runnertest"
)

const (
	initLine = `{"type":"system","subtype":"init","session_id":"` + claudeSession + `","model":"m1"}`
	doneLine = `{"is_error":false,"structured_output":{"status":"success","summary":"s"},"result":"r","subtype":"success","type":"result"}`
)

// Half a line is output that broke off.
func TestClaudeTorn(t *testing.T) {
	t.Parallel()
	r := runnertest.Run(t, claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)}),
		runnertest.Prints(t, initLine, doneLine[:30]))
	if want := "its output broke off in the middle of a line"; r.Outcome != runners.Truncated || r.Detail != want {
		t.Errorf("got %s (%s), want %s", r.Outcome, r.Detail, want)
	}
}

func TestClaudeArguments(t *testing.T) {
	t.Parallel()
	const id = "8f446ebc-ae4d-4aad-9bf1-661a3a9245cc"
	for _, c := range []struct {
		name   string
		o      claude.Options
		change func(*runners.Request)
		want   []string
	}{
		{
			"plain",
			claude.Options{},
			func(*runners.Request) {},
			[]string{"--permission-mode", "dontAsk", "--allowedTools", "Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch,Skill,Monitor", "--session-id", "UUID"},
		},
		{
			"everything",
			claude.Options{Model: "m0", Permission: "acceptEdits", Args: []string{"--max-turns", "9"}},
			func(r *runners.Request) { r.Schema, r.Session = []byte("{}"), id },
			[]string{"--permission-mode", "acceptEdits", "--model", "m0", "--json-schema", "{}", "--resume", id},
		},
		{
			"a request's model wins",
			claude.Options{Model: "m0", Permission: "bypassPermissions"},
			func(r *runners.Request) { r.Model, r.Session = "m1", id },
			[]string{"--dangerously-skip-permissions", "--model", "m1", "--resume", id},
		},
		{
			"with a server",
			claude.Options{MCP: []string{"/opt/the relay", "mcp"}},
			func(r *runners.Request) { r.Session = id },
			[]string{
				"--permission-mode", "dontAsk", "--allowedTools", "Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch,Skill,Monitor,mcp__relay",
				"--mcp-config", `{"mcpServers":{"relay":{"command":"/opt/the relay","args":["mcp"]}}}`, "--resume", id,
			},
		},
		{
			"with a server, by another mode",
			claude.Options{MCP: []string{"relay", "mcp"}, Permission: "acceptEdits"},
			func(r *runners.Request) { r.Session = id },
			[]string{
				"--permission-mode", "acceptEdits", "--allowedTools", "mcp__relay",
				"--mcp-config", `{"mcpServers":{"relay":{"command":"relay","args":["mcp"]}}}`, "--resume", id,
			},
		},
		{
			"a question has no server",
			claude.Options{MCP: []string{"relay", "mcp"}, Permission: "bypassPermissions"},
			func(r *runners.Request) { r.Session, r.Question = id, true },
			[]string{"--dangerously-skip-permissions", "--resume", id},
		},
	} {
		req := runnertest.Prints(t, initLine, doneLine)
		c.change(&req)
		c.o.Program = runnertest.Self(t)
		runnertest.Run(t, claude.New(process.NewLocal(), c.o), req)
		data, err := os.ReadFile(filepath.Join(req.Dir, "argv"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(string(data), "\n")
		if i := slices.Index(got, "--session-id"); i >= 0 && len(got[i+1]) == len(id) {
			got[i+1] = "UUID"
		}
		want := slices.Concat(c.o.Args, []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"}, c.want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

func TestClaudeStream(t *testing.T) {
	t.Parallel()
	say := func(text string) string {
		return `{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m","content":[{"type":"text","text":"` + text + `"}],"usage":{"input_tokens":3,"output_tokens":1}}}`
	}
	retry := func(status, attempt string) string {
		return `{"type":"system","subtype":"api_retry","attempt":` + attempt + `,"max_retries":6,"retry_delay_ms":500,"error_status":` + status + `,"error":"x"}`
	}
	const (
		calls       = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"Bash","input":{}}]}}`
		deniedTwice = `{"type":"result","subtype":"success","is_error":false,"permission_denials":[{"tool_name":"Bash"},{"tool_name":"Bash"}],`
		gaveUp      = `"structured_output":{"status":"failure","summary":"s"}}`
	)
	rejected := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":` // and a time
	limited := `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"terminal_reason":"api_error","result":"limit"}`
	for _, c := range []struct {
		name  string
		lines []string
		want  runners.Outcome
	}{
		{"one field of another type", []string{initLine, `{"type":"result","subtype":"success","is_error":false,"num_turns":"two","usage":[],"permission_denials":{},"structured_output":{"status":"success","summary":"s"}}`}, runners.Claimed},
		{"a torn last line", []string{initLine, say("a"), doneLine[:40]}, runners.Truncated},
		{"no newline at the end", []string{initLine, doneLine}, runners.Claimed},
		{"its subagent goes on after its result", []string{initLine, doneLine, strings.Replace(say("one more thing"), "null", `"toolu_1"`, 1)}, runners.Claimed},
		{"goes on after its result", []string{initLine, doneLine, say("one more thing")}, runners.NoResult},
		{"a torn last line", []string{initLine, say("a"), doneLine[:30]}, runners.Truncated},
		{"a second result", []string{initLine, doneLine, say("more"), `{"type":"result","subtype":"success","is_error":false,"structured_output":{"status":"failure","summary":"no"}}`}, runners.Failed},
		{"retries that succeed", []string{initLine, retry("529", "1"), retry("529", "2"), say("a"), doneLine}, runners.Claimed},
		{"words of a limit in its own text", []string{initLine, say("You've hit your 5-hour limit. API Error: 401"), doneLine}, runners.Claimed},
		{"a limit that passed", []string{initLine, rejected + `2000000000}}`, say("a"), limited}, runners.RateLimited},
		{"an unlikely reset time", []string{initLine, rejected + `99999999999}}`, limited}, runners.RateLimited},
		{"an error that calls itself a success", []string{initLine, `{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"x"}`}, runners.Auth},
		{"an unknown subtype", []string{initLine, `{"type":"result","subtype":"error_new","is_error":false}`}, runners.Failed},
		{"nothing", nil, runners.NoResult},
		{"interrupted by somebody", []string{initLine, `{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming"}`}, runners.Killed},
		{"no room", []string{initLine, `{"type":"result","subtype":"success","is_error":true,"api_error_status":503,"terminal_reason":"api_error","result":"x"}`}, runners.Overloaded},
		{"too large", []string{initLine, `{"type":"result","subtype":"success","is_error":true,"api_error_status":413,"terminal_reason":"api_error","result":"x"}`}, runners.ContextExhausted},
		{"gave up for want of a tool", []string{initLine, calls, calls, deniedTwice + gaveUp}, runners.PermissionDenied},
		{"gave up after a call was denied", []string{initLine, calls, calls, calls, deniedTwice + gaveUp}, runners.Failed},
		{"did without the tool", []string{initLine, calls, calls, deniedTwice + `"structured_output":{"status":"success","summary":"s"}}`}, runners.Claimed},
	} {
		r := runnertest.Run(t, claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)}), runnertest.Prints(t, c.lines...))
		if r.Outcome != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, r.Outcome, r.Detail, c.want)
		}
	}
}

// TestClaudeEndsBadly fails when a final result hides that the CLI itself failed after it.
func TestClaudeEndsBadly(t *testing.T) {
	t.Parallel()
	req := runnertest.Prints(t, initLine, doneLine)
	req.Env = append(req.Env, "EXIT=7")
	r := runnertest.Run(t, claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)}), req)
	if want := "it reported an end, but then: exit status 7"; r.Outcome != runners.Failed || r.Detail != want {
		t.Errorf("got %q (%s), want %s", r.Outcome, r.Detail, want)
	}
}

// TestClaudeUnheardInRetry fails when a provider that has no room is said to be silent.
func TestClaudeUnheardInRetry(t *testing.T) {
	t.Parallel()
	req := runnertest.Prints(t, initLine, `{"type":"system","subtype":"api_retry","attempt":1,"error_status":503,"error":"overloaded"}`+"\n")
	req.Env = append(req.Env, "STAYS=1")
	req.Limits.FirstAnswer = 300 * time.Millisecond
	runner := claude.New(runnertest.Local(req), claude.Options{Program: runnertest.Self(t)})
	if r := runnertest.Run(t, runner, req); r.Outcome != runners.Overloaded {
		t.Errorf("got %q (%s)", r.Outcome, r.Detail)
	}
}

// TestClaudeRefusedLogin fails when relay waits for a CLI that asks for minutes with a key that was refused.
func TestClaudeRefusedLogin(t *testing.T) {
	t.Parallel()
	refused := `{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":9e5,"error_status":401,"error":"authentication_failed"}`
	req := runnertest.Prints(t, initLine, refused+"\n")
	req.Env = append(req.Env, "STAYS=1")
	r := runnertest.Run(t, claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)}), req)
	if r.Outcome != runners.Auth || !r.Exit.Stopped {
		t.Errorf("got %q (%s), %+v", r.Outcome, r.Detail, r.Exit)
	}
}

// TestClaudeSilentInRetry fails when an agent pays for the silence of its provider.
func TestClaudeSilentInRetry(t *testing.T) {
	t.Parallel()
	waiting := `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":9e5,"error_status":529,"error":"overloaded"}`
	req := runnertest.Prints(t, initLine, waiting+"\n")
	req.Env = append(req.Env, "STAYS=1")
	req.Limits.Silence = 300 * time.Millisecond
	var heard []string
	req.Observe = func(e runners.Event) {
		if e.Kind == runners.EventRetry {
			heard = append(heard, e.Text)
		}
	}
	runner := claude.New(runnertest.Local(req), claude.Options{Program: runnertest.Self(t)})
	if r := runnertest.Run(t, runner, req); r.Outcome != runners.Overloaded {
		t.Errorf("got %q (%s)", r.Outcome, r.Detail)
	}
	if want := []string{"529 overloaded; asks again in 900 s (1 of 10)"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

func TestClaudeReport(t *testing.T) {
	t.Parallel()
	var kinds []runners.EventKind
	req := runnertest.Prints(t, initLine,
		`{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"Bash","input":{"command":"ls -l","description":"d"}}]}}`,
		`{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"b","content":[{"type":"text","text":"from a subagent"}]}}`,
		`{"type":"system","subtype":"permission_denied","tool_name":"Write"}`,
		`{"type":"result","subtype":"success","is_error":false,"session_id":"--resume","result":"all\u001b[31m done","total_cost_usd":9.5,"permission_denials":[{"tool_name":"Write"}],"structured_output":{"status":"success","summary":"s"},"model_usage_since_last_result":{"m1":{"inputTokens":5,"outputTokens":2,"cacheReadInputTokens":1,"costUSD":0.25}}}`,
	)
	req.Observe = func(e runners.Event) { kinds = append(kinds, e.Kind) }
	r := runnertest.Run(t, claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)}), req)
	if r.Session != claudeSession || r.Model != "m1" || r.FinalText != "all done" {
		t.Errorf("session %q, model %q, text %q", r.Session, r.Model, r.FinalText)
	}
	if want := (runners.Usage{InputTokens: 6, CachedTokens: 1, OutputTokens: 2, CostUSD: 0.25, Priced: true}); r.Usage != want {
		t.Errorf("usage %+v, want %+v", r.Usage, want)
	}
	if r.Outcome != runners.Claimed || r.Detail != "not allowed to use Write" {
		t.Errorf("outcome %q, detail %q", r.Outcome, r.Detail)
	}
	want := []runners.EventKind{runners.EventSession, runners.EventText, runners.EventTool, runners.EventText, runners.EventResult}
	if !slices.Equal(kinds, want) {
		t.Errorf("events %q, want %q", kinds, want)
	}
}

func TestClaudeQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]runners.Outcome{`{\"verdict\":\"APPROVED\"}`: runners.Claimed, "": runners.NoResult} {
		req := runnertest.Prints(t, initLine, `{"type":"result","subtype":"success","is_error":false,"result":"`+text+`"}`)
		req.Question = true
		r := runnertest.Run(t, claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)}), req)
		if r.Outcome != want || r.FinalText != strings.ReplaceAll(text, `\`, "") {
			t.Errorf("%q: got %q with %q", text, r.Outcome, r.FinalText)
		}
		if want := "it ended without an answer"; text == "" && r.Detail != want {
			t.Errorf("got %q, want %q", r.Detail, want)
		}
	}
}

// TestClaudeStopped fails when a Ctrl-C counts as anything else, or costs a session that could be resumed.
func TestClaudeStopped(t *testing.T) {
	t.Parallel()
	req := runnertest.Prints(t, initLine+"\n")
	req.Env = append(req.Env, "STAYS=1")
	ctx, cancel := context.WithCancel(t.Context())
	req.Observe = func(e runners.Event) {
		if e.Kind == runners.EventSession {
			cancel()
		}
	}
	r, err := claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t)}).Run(ctx, req)
	if err != nil || r.Outcome != runners.Stopped || r.Session != claudeSession {
		t.Errorf("got %+v, %v", r, err)
	}
}

const claudeSession = "91085b9c-ea1a-4966-a557-436fcb9122ff"

// claudeVoice talks Claude Code's stream-json.
var claudeVoice = runnertest.Voice{
	Begin: func(w io.Writer) {
		runnertest.Event(w, map[string]any{"type": "system", "subtype": "init", "session_id": claudeSession, "model": "claude-sonnet-4-5"})
		runnertest.Event(w, map[string]any{"type": "assistant", "message": map[string]any{ // what it does then is in a tool
			"id": "msg_0", "content": []any{map[string]any{"type": "tool_use", "id": "toolu_0", "name": "Bash"}},
		}})
	},
	Say: func(w io.Writer, text string) {
		runnertest.Event(w, map[string]any{"type": "assistant", "session_id": claudeSession, "message": map[string]any{
			"id": "msg_1", "content": []any{map[string]any{"type": "text", "text": text}},
		}})
	},
	End: func(w io.Writer, result string) {
		e := map[string]any{
			"type": "result", "subtype": "success", "is_error": false, "session_id": claudeSession,
			"result": "That is all.", "total_cost_usd": 0.5, "usage": map[string]any{"input_tokens": 10, "output_tokens": 2},
		}
		if result != "" {
			e["structured_output"] = json.RawMessage(result)
		}
		runnertest.Event(w, e)
	},
}

func TestClaudeConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		t.Helper()
		return runnertest.Cast{
			Runner: claude.New(sup, claude.Options{Program: runnertest.Program(t, act)}),
			Env:    []string{runnertest.VoiceVariable + "=claude"},
			Settings: []string{
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_MAX_RETRIES", "IS_SANDBOX",
			},
		}
	})
}

func TestClaudeModes(t *testing.T) {
	t.Parallel()
	for permission, want := range map[string]string{
		"":                  "permission mode dontAsk: files, commands and the web; the rest is denied",
		"bypassPermissions": "permission mode bypassPermissions: everything is allowed",
		"acceptEdits":       "permission mode acceptEdits",
	} {
		if got := claude.New(nil, claude.Options{Permission: permission}).Mode(); got != want {
			t.Errorf("claude %q: got %q, want %q", permission, got, want)
		}
	}
}

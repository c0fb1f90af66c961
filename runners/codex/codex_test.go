package codex_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/codex"
	"relay/runners/process"
	"relay/runners/runnertest"
)

const codexSession = "01a1fc20-1551-7320-a606-d44b0d80ed5b"

const (
	threadLine  = `{"type":"thread.started","thread_id":"` + codexSession + `"}`
	turnLine    = `{"type":"turn.started"}`
	goodLine    = `{"type":"item.completed","item":{"id":"i9","type":"agent_message","text":"Done.\n` + "```relay-result" + `\n{\"status\":\"success\",\"summary\":\"s\"}\n` + "```" + `"}}`
	codexDone   = `{"type":"turn.completed","usage":{"input_tokens":2000,"cached_input_tokens":400,"output_tokens":100}}`
	toolStarted = `{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls -l","status":"in_progress"}}`
)

func codexSaying(text string) string {
	return `{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"` + text + `"}}`
}

func codexTrouble(text string) string { return `{"type":"error","message":"` + text + `"}` }

func codexFails(text string) string {
	return codexTrouble(text) + "\n" + `{"type":"turn.failed","error":{"message":"` + text + `"}}`
}

// runCodex runs a fake codex that prints the lines and ends with a status.
func runCodex(t *testing.T, exit string, lines ...string) runners.Report {
	t.Helper()
	req := runnertest.Prints(t, lines...)
	req.Env = append(req.Env, "EXIT="+exit)
	return runnertest.Run(t, codex.New(process.NewLocal(), codex.Options{Program: runnertest.Self(t)}), req)
}

func TestCodexArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		o      codex.Options
		change func(*runners.Request)
		want   string
	}{
		{"plain", codex.Options{}, func(*runners.Request) {}, "--sandbox workspace-write -c analytics.enabled=false -"},
		{
			"everything",
			codex.Options{Model: "m0", Permission: "danger-full-access", Args: []string{"-c", "x=1"}},
			func(r *runners.Request) { r.Schema, r.Session = runners.ResultSchema("feature"), codexSession },
			"--sandbox danger-full-access -c analytics.enabled=false -m m0 --output-schema SCHEMA resume " + codexSession + " -",
		},
		{
			"a question changes nothing",
			codex.Options{Model: "m0"},
			func(r *runners.Request) { r.Question, r.Model = true, "m1" },
			"--sandbox read-only -c analytics.enabled=false -m m1 -",
		},
		{
			"unless it may",
			codex.Options{Permission: "workspace-write"},
			func(r *runners.Request) { r.Question = true },
			"--sandbox workspace-write -c analytics.enabled=false -",
		},
		{
			"with a server",
			codex.Options{MCP: []string{"/opt/relay", "mcp"}, Env: []string{"KEY=x"}},
			func(r *runners.Request) { r.Session, r.Env = codexSession, append(r.Env, "RELAY_TOKEN=t") },
			`--sandbox workspace-write -c analytics.enabled=false -c mcp_servers.relay={command="/opt/relay",args=["mcp"],` +
				`env_vars=["KEY","RELAY_ATTEMPT","RELAY_RESULT","RELAY_TASK","RELAY_TOKEN"],default_tools_approval_mode="approve"} ` +
				`-c features.code_mode.direct_only_tool_namespaces=["mcp__relay"] resume ` +
				codexSession + " -",
		},
		{
			"a question has no server",
			codex.Options{MCP: []string{"relay", "mcp"}},
			func(r *runners.Request) { r.Question = true },
			"--sandbox read-only -c analytics.enabled=false -",
		},
	} {
		req := runnertest.Prints(t, threadLine, turnLine, goodLine, codexDone)
		c.change(&req)
		c.o.Program = runnertest.Self(t)
		runnertest.Run(t, codex.New(process.NewLocal(), c.o), req)
		data, err := os.ReadFile(filepath.Join(req.Dir, "argv"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(string(data), filepath.Join(filepath.Dir(req.Transcript), "schema.json"), "SCHEMA")
		for _, entry := range req.Env {
			if name, _, _ := strings.Cut(entry, "="); name != "RELAY_TOKEN" {
				got = strings.NewReplacer(`"`+name+`",`, "", `,"`+name+`"`, "").Replace(got)
			}
		}
		if want := strings.Join(append(c.o.Args, "exec --json --skip-git-repo-check "+c.want), " "); strings.ReplaceAll(got, "\n", " ") != want {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

func TestCodexModes(t *testing.T) {
	t.Parallel()
	for permission, want := range map[string]string{
		"":                   "sandbox workspace-write: writes in its checkout and /tmp, no network, no commits",
		"read-only":          "sandbox read-only: it can change nothing",
		"danger-full-access": "no sandbox (danger-full-access): everything is allowed",
		"new":                "sandbox new",
	} {
		if got := codex.New(nil, codex.Options{Permission: permission}).Mode(); got != want {
			t.Errorf("codex %q: got %q, want %q", permission, got, want)
		}
	}
}

func TestCodexStream(t *testing.T) {
	t.Parallel()
	again := func(why string) string { return codexTrouble("Reconnecting... 1/5 (" + why + ")") }
	for _, c := range []struct {
		name  string
		exit  string
		lines []string
		want  runners.Outcome
	}{
		{"good", "0", []string{goodLine, codexDone}, runners.Claimed},
		{"one field of another type", "0", []string{goodLine, `{"type":"turn.completed","usage":[],"item":7}`}, runners.Claimed},
		{"a good end, and then a bad one", "7", []string{goodLine, codexDone}, runners.Failed},
		{"no end", "0", []string{goodLine}, runners.NoResult},
		{"a torn last line", "0", []string{goodLine, codexDone[:30]}, runners.Truncated},
		{"no end, and a bad status", "1", []string{goodLine}, runners.Failed},
		{"its wrapper was killed", "137", []string{goodLine}, runners.Killed},
		{"another turn after its end", "0", []string{goodLine, codexDone, turnLine}, runners.NoResult},
		{"retries that succeed", "0", []string{again("unexpected status 529 x: y"), goodLine, codexDone}, runners.Claimed},
		{"words of a limit in its own text", "0", []string{codexSaying("You've hit your usage limit. unexpected status 401"), goodLine, codexDone}, runners.Claimed},
		{"words of a limit in its own text, and no end", "1", []string{codexSaying("You've hit your usage limit.")}, runners.Failed},
		{"ended in a retry", "1", []string{codexSaying("a"), again("stream disconnected before completion: Transport error: x")}, runners.Truncated},
		{"ended in a retry for no known reason", "1", []string{codexSaying("a"), again("new words")}, runners.Provider},
		{"an object that nobody asked for", "0", []string{codexSaying(`{\"status\":\"success\",\"summary\":\"s\"}`), codexDone}, runners.Claimed},
		{"another object that nobody asked for", "0", []string{codexSaying(`{\"status\":\"success\"}`), codexDone}, runners.NoResult},
		{"an error and no end", "1", []string{codexTrouble("Missing environment variable: `X`.")}, runners.Auth},
		{"an unknown fault of its own", "1", []string{codexSaying("a"), codexFails("Fatal error: x")}, runners.Failed},
		{"an unknown fault before any answer", "1", []string{codexFails("Fatal error: x")}, runners.Provider},
		{"a failure without words", "1", []string{codexSaying("a"), `{"type":"turn.failed"}`}, runners.Failed},
		{"a refusal", "1", []string{codexFails("stream disconnected before completion: Incomplete response returned, reason: content_filter")}, runners.Refused},
		{"a rate in the stream", "1", []string{codexFails("stream disconnected before completion: Rate limit reached for m. Please try again in 11.054s.")}, runners.RateLimited},
		{"a model that is not there", "1", []string{codexFails(`{\"error\":{\"message\":\"The requested model 'm' does not exist.\",\"code\":\"model_not_found\"}}`)}, runners.NoModel},
		{"an account without the model", "1", []string{codexFails(`{\"detail\":\"The 'm' model is not supported when using Codex with a ChatGPT account.\"}`)}, runners.NoModel},
		{"too much to read", "1", []string{codexSaying("a"), codexFails(`{\"error\":{\"message\":\"x\",\"code\":\"context_length_exceeded\"}}`)}, runners.ContextExhausted},
		{"a request too large", "1", []string{codexSaying("a"), codexFails("unexpected status 413 Payload Too Large: x")}, runners.ContextExhausted},
	} {
		r := runCodex(t, c.exit, append([]string{threadLine, turnLine}, c.lines...)...)
		if r.Outcome != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, r.Outcome, r.Detail, c.want)
		}
	}
	if r := runCodex(t, "0"); r.Outcome != runners.NoResult || r.Detail != "it ended without a final message" {
		t.Errorf("nothing: got %q (%s)", r.Outcome, r.Detail)
	}
}

// TestCodexHopeless fails when relay waits for a CLI that asks with a key that was refused, or for a network that is gone.
func TestCodexHopeless(t *testing.T) {
	t.Parallel()
	refused := codexTrouble("Reconnecting... 1/5 (unexpected status 401 Unauthorized: x)")
	gone := codexTrouble("Reconnecting... waiting for network (Connection failed: error sending request)")
	for _, c := range []struct {
		lines []string
		want  runners.Outcome
	}{
		{[]string{refused, refused}, runners.Auth},
		{slices.Repeat([]string{gone}, 8), runners.Network},
	} {
		for spare := range 2 { // one line fewer, and it has hope
			lines := append([]string{threadLine, turnLine}, c.lines[spare:]...)
			req := runnertest.Prints(t, append(lines, "")...)
			req.Env = append(req.Env, "STAYS=1")
			limit := runners.Limits{Wall: 5 * time.Minute, StopGrace: time.Minute}
			want, why := c.want, "gave up while its provider failed: "
			if spare > 0 {
				limit.Wall, want, why = time.Second, runners.Network, "no answer from the model: time limit passed: 1s"
			}
			req.Limits = limit
			r := runnertest.Run(t, codex.New(runnertest.Local(req), codex.Options{Program: runnertest.Self(t)}), req)
			if r.Outcome != want || !strings.HasPrefix(r.Detail, why) || !r.Exit.Stopped || r.Exit.Signal != "INT" {
				t.Errorf("got %q (%s), %+v; want %q and signal INT", r.Outcome, r.Detail, r.Exit, want)
			}
		}
	}
}

// TestCodexSilentInRetry fails when an agent pays for the silence of its provider.
func TestCodexSilentInRetry(t *testing.T) {
	t.Parallel()
	for _, limits := range []runners.Limits{{Silence: 300 * time.Millisecond}, {FirstAnswer: 300 * time.Millisecond}} {
		req := runnertest.Prints(t, threadLine, turnLine, codexTrouble("Reconnecting... 2/5 (unexpected status 529 x: Overloaded)")+"\n")
		req.Env = append(req.Env, "STAYS=1")
		limits.StopGrace = time.Minute
		req.Limits = limits
		r := runnertest.Run(t, codex.New(runnertest.Local(req), codex.Options{Program: runnertest.Self(t)}), req)
		if want := "gave up while its provider failed: unexpected status 529 x: Overloaded"; r.Outcome != runners.Overloaded || r.Detail != want {
			t.Errorf("got %q (%s), want %s", r.Outcome, r.Detail, want)
		}
	}
}

// TestCodexUnheard fails when a step of the CLI itself passes for an answer of the model.
func TestCodexUnheard(t *testing.T) {
	t.Parallel()
	req := runnertest.Prints(t, threadLine, `{"type":"item.completed","item":{"id":"i0","type":"error","message":"no metadata"}}`, turnLine+"\n")
	req.Env = append(req.Env, "STAYS=1")
	req.Limits = runners.Limits{FirstAnswer: 300 * time.Millisecond, Wall: 5 * time.Minute, StopGrace: time.Minute}
	runner := codex.New(runnertest.Local(req), codex.Options{Program: runnertest.Self(t)})
	if r := runnertest.Run(t, runner, req); r.Outcome != runners.Network {
		t.Errorf("got %q (%s)", r.Outcome, r.Detail)
	}
}

func TestCodexReport(t *testing.T) {
	t.Parallel()
	var told []runners.Event
	req := runnertest.Prints(t, threadLine, turnLine, codexSaying(`I look\u001b[31m.`), toolStarted, strings.Replace(toolStarted, "started", "completed", 1),
		`{"type":"item.completed","item":{"id":"i2","type":"file_change","changes":[{"path":"/w/a.txt","kind":"add"}]}}`,
		`{"type":"item.started","item":{"id":"i3","type":"mcp_tool_call","server":"docs","tool":"find"}}`,
		codexSaying(`{\"status\":\"success\",\"summary\":\"s\",\"learning\":null}`), codexDone)
	req.Session, req.Schema, req.Spent = codexSession, runners.ResultSchema("feature"), runners.Usage{
		InputTokens: 1500, CachedTokens: 300, OutputTokens: 60,
	}
	req.Observe = func(e runners.Event) { told = append(told, e) }
	r := runnertest.Run(t, codex.New(process.NewLocal(), codex.Options{Program: runnertest.Self(t), Model: "m0"}), req)
	if r.Outcome != runners.Claimed || r.Result == nil || r.Result.Summary != "s" || r.Session != codexSession || r.Model != "m0" {
		t.Errorf("got %+v", r)
	}
	used := runners.Usage{InputTokens: 500, CachedTokens: 100, OutputTokens: 40}
	if r.Usage != used {
		t.Errorf("usage %+v, want %+v: the session's less what was spent before", r.Usage, used)
	}
	want := []runners.Event{
		{Kind: runners.EventSession, Text: codexSession},
		{Kind: runners.EventText, Text: "I look."},
		{Kind: runners.EventTool, Text: "command_execution ls -l"},
		{Kind: runners.EventTool, Text: "file_change /w/a.txt"},
		{Kind: runners.EventTool, Text: "mcp_tool_call docs find"},
		{Kind: runners.EventText, Text: `{"status":"success","summary":"s","learning":null}`},
		{Kind: runners.EventResult, Text: `{"status":"success","summary":"s","learning":null}`},
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %+v, want %+v", told, want)
	}
}

// TestCodexCountsAnew fails when a session's count that began anew is taken for a part of the old one.
func TestCodexCountsAnew(t *testing.T) {
	t.Parallel()
	req := runnertest.Prints(t, threadLine, turnLine, goodLine, codexDone)
	req.Session, req.Spent = codexSession, runners.Usage{InputTokens: 2001, OutputTokens: 60}
	r := runnertest.Run(t, codex.New(process.NewLocal(), codex.Options{Program: runnertest.Self(t)}), req)
	if want := (runners.Usage{InputTokens: 2000, CachedTokens: 400, OutputTokens: 100}); r.Usage != want {
		t.Errorf("usage %+v, want %+v", r.Usage, want)
	}
}

func TestCodexQuestion(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]runners.Outcome{codexSaying(`{\"verdict\":\"APPROVED\"}`): runners.Claimed, "": runners.NoResult} {
		req := runnertest.Prints(t, threadLine, turnLine, said, codexDone)
		req.Question = true
		r := runnertest.Run(t, codex.New(process.NewLocal(), codex.Options{Program: runnertest.Self(t)}), req)
		if r.Outcome != want || r.Outcome == runners.Claimed && r.FinalText != `{"verdict":"APPROVED"}` {
			t.Errorf("got %q with %q, want %q", r.Outcome, r.FinalText, want)
		}
	}
}

// TestCodexSandboxBroken fails when an agent pays for a sandbox that does not work here, or when a reviewer that could
// read nothing has a verdict.
func TestCodexSandboxBroken(t *testing.T) {
	t.Parallel()
	const none = "none of its commands and changes worked: if its sandbox cannot work on this machine, set permission: danger-full-access"
	step := func(status string) string {
		return `{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","status":"` + status + `"}}`
	}
	sad := codexSaying("```relay-result" + `\n{\"status\":\"failure\",\"summary\":\"no\"}\n` + "```")
	for _, c := range []struct {
		name     string
		question bool
		lines    []string
		want     runners.Outcome
		detail   string
	}{
		{"gave up", false, []string{step("failed"), step("failed"), sad}, runners.PermissionDenied, none},
		{"said nothing of it", false, []string{step("failed"), step("failed"), codexSaying("a")}, runners.PermissionDenied, none},
		{"a step worked", false, []string{step("failed"), step("completed"), step("failed"), sad}, runners.Failed, "no"},
		{"one test, and it fails", false, []string{step("failed"), sad}, runners.Failed, "no"},
		{"claims it all the same", false, []string{step("failed"), step("failed"), goodLine}, runners.Claimed, ""},
		{"a blind verdict", true, []string{step("failed"), codexSaying("APPROVED")}, runners.PermissionDenied, none},
		{"a verdict", true, []string{step("failed"), step("completed"), codexSaying("APPROVED")}, runners.Claimed, ""},
	} {
		req := runnertest.Prints(t, append(append([]string{threadLine, turnLine}, c.lines...), codexDone)...)
		req.Question = c.question
		r := runnertest.Run(t, codex.New(process.NewLocal(), codex.Options{Program: runnertest.Self(t)}), req)
		if r.Outcome != c.want || r.Detail != c.detail {
			t.Errorf("%s: got %q (%s), want %q (%s)", c.name, r.Outcome, r.Detail, c.want, c.detail)
		}
	}
	if r := runCodex(t, "0", threadLine, turnLine, codexDone); r.Detail != "its model said nothing: it had nothing to say, or refused" {
		t.Errorf("got %q (%s)", r.Outcome, r.Detail)
	}
}

// TestCodexSession fails when what is no session id gets onto the command line.
func TestCodexSession(t *testing.T) {
	t.Parallel()
	req := runnertest.Prints(t, strings.Replace(threadLine, codexSession, "--last", 1), turnLine, goodLine, codexDone)
	if r := runnertest.Run(t, codex.New(process.NewLocal(), codex.Options{Program: runnertest.Self(t)}), req); r.Session != "" {
		t.Errorf("session %q", r.Session)
	}
	req.Session = "--last"
	r := runnertest.Run(t, codex.New(process.NewLocal(), codex.Options{Program: runnertest.Self(t)}), req)
	if want := "cannot resume: the session's id is none of codex"; r.Outcome != runners.NoSession || r.Detail != want {
		t.Errorf("got %q (%s), want %s", r.Outcome, r.Detail, want)
	}
}

// TestCodexStopped fails when a Ctrl-C counts as anything else.
func TestCodexStopped(t *testing.T) {
	t.Parallel()
	req := runnertest.Prints(t, threadLine+"\n")
	req.Env = append(req.Env, "STAYS=1")
	ctx, cancel := context.WithCancel(t.Context())
	req.Observe = func(runners.Event) { cancel() }
	r, err := codex.New(process.NewLocal(), codex.Options{Program: runnertest.Self(t)}).Run(ctx, req)
	if err != nil || r.Outcome != runners.Stopped || r.Session != codexSession {
		t.Errorf("got %+v, %v", r, err)
	}
}

// codexVoice talks Codex's JSON lines.
var codexVoice = runnertest.Voice{
	Begin: func(w io.Writer) {
		runnertest.Event(w, map[string]any{"type": "thread.started", "thread_id": codexSession})
		runnertest.Event(w, map[string]any{"type": "turn.started"})
		runnertest.Event(w, map[string]any{"type": "item.started", "item": map[string]any{"id": "item_1", "type": "command_execution"}}) // what it does then
	},
	Say: codexSays,
	End: func(w io.Writer, result string) {
		text := "That is all."
		if result != "" {
			text += "\n```relay-result\n" + result + "\n```"
		}
		codexSays(w, text)
		runnertest.Event(w, map[string]any{"type": "turn.completed", "usage": map[string]any{"input_tokens": 10, "output_tokens": 2}})
	},
}

func codexSays(w io.Writer, text string) {
	runnertest.Event(w, map[string]any{"type": "item.completed", "item": map[string]any{"id": "item_0", "type": "agent_message", "text": text}})
}

func TestCodexConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		t.Helper()
		return runnertest.Cast{
			Runner: codex.New(sup, codex.Options{Program: runnertest.Program(t, act)}),
			Env:    []string{runnertest.VoiceVariable + "=codex"},
		}
	})
}

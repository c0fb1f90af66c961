package gemini_test

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
	"relay/runners/gemini"
	"relay/runners/process"
	"relay/runners/runnertest"
)

const validSession = "375abb56-551f-49b0-b955-e9a805ff75fd"

// geminiVoice talks Gemini CLI's stream-json. A tool is at work from the first: without one it is the model's answer
// that is missing when nothing comes, and not the agent that hangs.
var geminiVoice = runnertest.Voice{
	Begin: func(w io.Writer) {
		runnertest.Event(w, map[string]any{"type": "init", "session_id": validSession, "model": "gemini-2.5-pro"})
		runnertest.Event(w, map[string]any{"type": "message", "role": "user", "content": "do the thing"})
		runnertest.Event(w, map[string]any{"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "c1", "parameters": map[string]any{"command": "true"}})
	},
	Say: geminiSays,
	End: func(w io.Writer, result string) {
		geminiSays(w, "That is ")
		geminiSays(w, "all.\n")
		if result != "" {
			fence, half := "```relay-result\n"+result+"\n```\n", len(result)/2
			geminiSays(w, fence[:half])
			geminiSays(w, fence[half:])
		}
		runnertest.Event(w, map[string]any{
			"type": "result", "status": "success",
			"stats": map[string]any{"total_tokens": 12, "input_tokens": 10, "output_tokens": 2, "cached": 4},
		})
	},
}

func geminiSays(w io.Writer, text string) {
	runnertest.Event(w, map[string]any{"type": "message", "role": "assistant", "content": text, "delta": true})
}

func TestGeminiConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		t.Helper()
		return runnertest.Cast{
			Runner:   gemini.New(sup, gemini.Options{Program: runnertest.Program(t, act), Git: []string{"user.name=Ada"}}),
			Env:      []string{runnertest.VoiceVariable + "=gemini"},
			Settings: []string{"GEMINI_CLI_NO_RELAUNCH", "NO_BROWSER", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"},
		}
	})
}

// Lines of Gemini CLI's stream.
const (
	geminiInit   = `{"type":"init","session_id":"` + validSession + `","model":"auto"}`
	geminiPrompt = `{"type":"message","role":"user","content":"do the thing"}`
	geminiDone   = `{"type":"result","status":"success","stats":{"input_tokens":5}}`
	geminiShell  = `{"type":"tool_use","tool_name":"run_shell_command","tool_id":"c1","parameters":{"command":"make test"}}`
	geminiShown  = `{"type":"tool_result","tool_id":"c1","status":"success","output":"ok"}`
)

// geminiText is a delta of the agent's text.
func geminiText(text string) string {
	line, _ := json.Marshal(map[string]any{"type": "message", "role": "assistant", "content": text, "delta": true})
	return string(line)
}

var geminiClaim = geminiText("Done.\n```relay-result\n{\"status\":\"success\",\"summary\":\"s\"}\n```\n")

// geminiPrints is a request for a fake gemini that prints the lines.
func geminiPrints(t *testing.T, lines ...string) runners.Request {
	t.Helper()
	return runnertest.Prints(t, strings.Join(lines, "\n"), "")
}

func fakeGemini(t *testing.T, o gemini.Options) runners.Runner {
	t.Helper()
	return fakeGeminiOf(t, process.NewLocal(), o)
}

func fakeGeminiOf(t *testing.T, sup process.Supervisor, o gemini.Options) runners.Runner {
	t.Helper()
	o.Program = runnertest.Self(t)
	return gemini.New(sup, o)
}

func TestGeminiArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		o      gemini.Options
		change func(*runners.Request)
		want   []string
	}{
		{"plain", gemini.Options{}, func(*runners.Request) {}, []string{"--approval-mode", "yolo", "--skip-trust", "--session-id", "UUID"}},
		{
			"everything",
			gemini.Options{Model: "m0", Permission: "auto_edit", Args: []string{"--sandbox"}},
			func(r *runners.Request) { r.Schema, r.Session = []byte("{}"), validSession },
			[]string{"--approval-mode", "auto_edit", "--skip-trust", "-m", "m0", "--resume", validSession},
		},
		{
			"a session that would mean another one",
			gemini.Options{Model: "m0"},
			func(r *runners.Request) { r.Model, r.Session = "m1", "latest" },
			[]string{"--approval-mode", "yolo", "--skip-trust", "-m", "m1", "--session-id", "UUID"},
		},
	} {
		req := geminiPrints(t, geminiInit, geminiPrompt, geminiClaim, geminiDone)
		c.change(&req)
		runnertest.Run(t, fakeGemini(t, c.o), req)
		data, err := os.ReadFile(filepath.Join(req.Dir, "argv"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(string(data), "\n")
		if i := slices.Index(got, "--session-id"); i >= 0 && len(got[i+1]) == len(validSession) {
			got[i+1] = "UUID"
		}
		if want := slices.Concat(c.o.Args, []string{"-o", "stream-json"}, c.want); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

func TestGeminiStream(t *testing.T) {
	t.Parallel()
	begin := []string{geminiInit, geminiPrompt}
	for _, c := range []struct {
		name   string
		lines  []string
		want   runners.Outcome
		detail string
	}{
		{"a claim", []string{geminiClaim, geminiDone}, runners.Claimed, ""},
		{"one field of another type", []string{geminiClaim, `{"type":"result","status":"success","timestamp":7,"stats":[]}`}, runners.Claimed, ""},
		{"a claim before its last tool", []string{geminiClaim, geminiShell, geminiShown, geminiText("Oh."), geminiDone}, runners.NoResult, "it ended without a result"},
		{"a claim from a tool", []string{geminiShell, strings.Replace(geminiShown, "ok", "```relay-result\\n{\\\"status\\\":\\\"success\\\",\\\"summary\\\":\\\"s\\\"}\\n```", 1), geminiText("Ok."), geminiDone}, runners.NoResult, "it ended without a result"},
		{"a torn last line", []string{geminiClaim, geminiDone[:30]}, runners.Killed, "it ended in the middle: without an error, as when it is asked to end"},
		{"goes on after its result", []string{geminiClaim, geminiDone, geminiText("One more thing.")}, runners.Killed, "it ended in the middle: without an error, as when it is asked to end"},
		{"words of a limit in its own text", []string{geminiText("[API Error: You have exhausted your daily quota on this model.]\n"), geminiClaim, geminiDone}, runners.Claimed, ""},
		{"a loop", []string{geminiText("again"), `{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}`, geminiDone}, runners.Failed, "its own loop detection stopped it: it did the same again and again"},
		{"an empty answer after a tool", []string{geminiShell, geminiShown, geminiDone}, runners.Provider, "its model's last answer was empty"},
		{"an answer that is cut off after a tool", []string{geminiShell, geminiShown, geminiText("This is an "), geminiDone}, runners.Truncated, "its last answer breaks off in the middle of a sentence"},
		{"a full context", []string{geminiShell, geminiShown, strings.Replace(geminiDone, "5", "900000", 1)}, runners.ContextExhausted, "it stopped in the middle without a word, as it does when the next request is too long for its model"},
		{"an error without a word", []string{`{"type":"result","status":"error"}`}, runners.Provider, "it reported an error, and not which"},
		{"an answer that was blocked", []string{`{"type":"error","severity":"error","message":"The model response was blocked due to safety settings."}`, `{"type":"result","status":"error"}`}, runners.Refused, "The model response was blocked due to safety settings."},
		{"a tool that a policy denies", []string{geminiShell, `{"type":"tool_result","tool_id":"c1","status":"error","error":{"type":"policy_violation","message":"x"}}`, geminiClaim, geminiDone}, runners.Claimed, "not allowed to use run_shell_command"},
	} {
		r := runnertest.Run(t, fakeGemini(t, gemini.Options{}), geminiPrints(t, append(slices.Clone(begin), c.lines...)...))
		if r.Outcome != c.want || r.Detail != c.detail {
			t.Errorf("%s: got %q (%s), want %q (%s)", c.name, r.Outcome, r.Detail, c.want, c.detail)
		}
	}
	if r := runnertest.Run(t, fakeGemini(t, gemini.Options{}), geminiPrints(t)); r.Outcome != runners.NoResult {
		t.Errorf("nothing: got %q (%s)", r.Outcome, r.Detail)
	}
}

// TestGeminiEndsBadly fails when a final result hides that the CLI itself failed after it, or what it said of that.
func TestGeminiEndsBadly(t *testing.T) {
	t.Parallel()
	failed := `{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: out of luck]"}}`
	stopped := `{"type":"result","status":"error","error":{"type":"FatalInputError","message":"no such command"}}`
	noise := "YOLO mode is enabled. All tool calls will be automatically approved.\n"
	for _, c := range []struct {
		line, exit, stderr string
		want               runners.Outcome
		detail             string
	}{
		{geminiDone, "7", noise + "boom\n    at f (x.js:1:1)\n", runners.Failed, "it reported an end, but then: exit status 7: boom"},
		{failed, "1", "", runners.Failed, "the request failed: out of luck"},
		{failed, "152", "", runners.Provider, "408 out of luck"},         // 408
		{failed, "12", "", runners.Provider, "524 out of luck"},          // 524
		{failed, "157", "", runners.ContextExhausted, "413 out of luck"}, // 413
		{stopped, "42", "", runners.Failed, "no such command"},
		{strings.Replace(stopped, "FatalInputError", "no_space_left", 1), "54", "", runners.Provider, "no such command"},
		{geminiText("half"), "134", "", runners.Killed, "it ended in the middle: exit status 134"},
		{geminiText("half"), "3", "", runners.Failed, "it ended without a final message: exit status 3"},
		// What a tool printed is not the CLI's own word.
		{failed, "1", "Error when talking to Gemini API Full report available at: /tmp/x.json ModelNotFoundError: model: none\n", runners.Failed, "the request failed: out of luck"},
	} {
		req := geminiPrints(t, geminiInit, geminiPrompt, geminiClaim, c.line)
		req.Env = append(req.Env, "EXIT="+c.exit, "STDERR="+c.stderr)
		if r := runnertest.Run(t, fakeGemini(t, gemini.Options{}), req); r.Outcome != c.want || r.Detail != c.detail {
			t.Errorf("%s with %s: got %q (%s), want %q (%s)", c.exit, c.line, r.Outcome, r.Detail, c.want, c.detail)
		}
	}
}

// TestGeminiUnanswered fails when an agent pays for a provider that does not answer.
func TestGeminiUnanswered(t *testing.T) {
	t.Parallel()
	const retries = "Attempt 1 failed with status 529. Retrying with backoff... _ApiError: {}\n"
	unheard, waiting := []string{geminiInit, geminiPrompt}, []string{geminiInit, geminiPrompt, geminiShell, geminiShown}
	for _, c := range []struct {
		name   string
		lines  []string
		stderr string
		limits runners.Limits
		want   runners.Outcome
		detail string
	}{
		{"no answer at all", unheard, "", runners.Limits{FirstAnswer: 300 * time.Millisecond}, runners.Network, "no answer from the model: 300ms"},
		{"refused again and again", unheard, retries, runners.Limits{FirstAnswer: 300 * time.Millisecond}, runners.Overloaded, "gave up while its provider failed: status 529"},
		{"a first answer in time", waiting, "", runners.Limits{FirstAnswer: 300 * time.Millisecond, Wall: time.Second}, runners.WallLimit, "time limit passed: 1s"},
		{"no answer to a tool's result", waiting, retries, runners.Limits{Silence: 300 * time.Millisecond}, runners.Network, "no answer from the model: 300ms"},
		{"half an answer", []string{geminiInit, geminiPrompt, geminiText("The first ha")}, "", runners.Limits{Silence: 300 * time.Millisecond}, runners.Truncated, "the answer stopped in the middle: no output for too long: 300ms"},
		{"one of two tools that hangs", append(waiting[:3:3], strings.ReplaceAll(geminiShell, "c1", "c2"), geminiShown), "", runners.Limits{Silence: 300 * time.Millisecond}, runners.SilenceLimit, "no output for too long: 300ms"},
		{"a tool that hangs", waiting[:3], "", runners.Limits{Silence: 300 * time.Millisecond}, runners.SilenceLimit, "no output for too long: 300ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := geminiPrints(t, c.lines...)
			req.Env = append(req.Env, "STAYS=1", "STDERR="+c.stderr)
			c.limits.StopGrace = time.Minute
			req.Limits = c.limits
			if r := runnertest.Run(t, fakeGeminiOf(t, runnertest.Local(req), gemini.Options{}), req); r.Outcome != c.want || r.Detail != c.detail {
				t.Errorf("got %q (%s), want %q (%s)", r.Outcome, r.Detail, c.want, c.detail)
			}
		})
	}
}

func TestGeminiReport(t *testing.T) {
	t.Parallel()
	var kinds []runners.EventKind
	req := geminiPrints(t, geminiInit, geminiPrompt, geminiText("I look."), geminiShell, geminiShown, geminiText("all\x1b[31m "), geminiText("done"),
		`{"type":"init","session_id":"latest"}`,
		`{"type":"result","status":"success","stats":{"total_tokens":2240,"input_tokens":2000,"output_tokens":100,"cached":400,"models":{"gemini-flash":{"total_tokens":240},"gemini-pro":{"total_tokens":2000}}}}`)
	req.Observe = func(e runners.Event) { kinds = append(kinds, e.Kind) }
	r := runnertest.Run(t, fakeGemini(t, gemini.Options{}), req)
	if r.Session != validSession || r.Model != "gemini-pro" || r.FinalText != "all done" {
		t.Errorf("session %q, model %q, text %q", r.Session, r.Model, r.FinalText)
	}
	if want := (runners.Usage{InputTokens: 2000, CachedTokens: 400, OutputTokens: 240}); r.Usage != want {
		t.Errorf("usage %+v, want %+v: what the model thinks is paid for too", r.Usage, want)
	}
	want := []runners.EventKind{
		runners.EventSession, runners.EventText, runners.EventTool, runners.EventText,
		runners.EventText, runners.EventSession, runners.EventResult,
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("events %q, want %q", kinds, want)
	}
}

// TestGeminiLongAnswer fails when a result at the end of a long answer is lost.
func TestGeminiLongAnswer(t *testing.T) {
	t.Parallel()
	lines := []string{geminiInit, geminiPrompt}
	for range 64 {
		lines = append(lines, geminiText(strings.Repeat("ünd ", 4<<10)))
	}
	r := runnertest.Run(t, fakeGemini(t, gemini.Options{}), geminiPrints(t, append(lines, geminiClaim, geminiDone)...))
	if r.Outcome != runners.Claimed || len(r.FinalText) > 64<<10 {
		t.Errorf("got %q (%s) with %d bytes", r.Outcome, r.Detail, len(r.FinalText))
	}
}

// TestGeminiModes fails when an agent pays for a mode in which it can do nothing, or nobody is told of it.
func TestGeminiModes(t *testing.T) {
	t.Parallel()
	for permission, c := range map[string]struct {
		mode string
		want runners.Outcome
	}{
		"":          {"--approval-mode yolo: edits files and runs commands, everything unasked", runners.NoResult},
		"auto_edit": {"--approval-mode auto_edit: edits files, but has no shell: it cannot run tests or commit", runners.NoResult},
		"default":   {"--approval-mode default: reads only: it can neither edit a file nor run a command", runners.PermissionDenied},
		"plan":      {"--approval-mode plan: reads only: it can neither edit a file nor run a command", runners.PermissionDenied},
		"new":       {"--approval-mode new", runners.NoResult},
	} {
		o := gemini.Options{Permission: permission, Program: runnertest.Self(t)}
		if got := gemini.New(process.NewLocal(), o).Mode(); got != c.mode {
			t.Errorf("mode %q, want %q", got, c.mode)
		}
		r := runnertest.Run(t, fakeGemini(t, o), geminiPrints(t, geminiInit, geminiPrompt, geminiText("I have no tool for that."), geminiDone))
		if r.Outcome != c.want {
			t.Errorf("%s: got %q (%s), want %q", permission, r.Outcome, r.Detail, c.want)
		}
		if want := "it ended without a result; approval mode plan gives it no tool to edit a file or run a command with"; permission == "plan" && r.Detail != want {
			t.Errorf("got %q, want %q", r.Detail, want)
		}
	}
}

func TestGeminiQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]runners.Outcome{"APPROVED": runners.Claimed, "": runners.NoResult} {
		req := geminiPrints(t, geminiInit, geminiPrompt, geminiText(text), geminiDone)
		req.Question = true
		r := runnertest.Run(t, fakeGemini(t, gemini.Options{Permission: "plan"}), req)
		if r.Outcome != want || r.FinalText != text {
			t.Errorf("%q: got %q (%s) with %q", text, r.Outcome, r.Detail, r.FinalText)
		}
	}
}

// TestGeminiStopped fails when a Ctrl-C counts as anything else, or costs a session that could be resumed.
func TestGeminiStopped(t *testing.T) {
	t.Parallel()
	req := geminiPrints(t, geminiInit, geminiPrompt)
	req.Env = append(req.Env, "STAYS=1")
	ctx, cancel := context.WithCancel(t.Context())
	req.Observe = func(e runners.Event) {
		if e.Kind == runners.EventSession {
			cancel()
		}
	}
	r, err := fakeGemini(t, gemini.Options{}).Run(ctx, req)
	if err != nil || r.Outcome != runners.Stopped || r.Session != validSession {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestGeminiGit fails when the agent's git does not know who commits, or loses another setting it was given.
func TestGeminiGit(t *testing.T) {
	t.Parallel()
	req := runnertest.Request(t, runnertest.VoiceVariable+"=gemini", runnertest.ActVariable+"="+string(runnertest.LookAround),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=commit.gpgSign", "GIT_CONFIG_VALUE_0=false")
	runnertest.Run(t, fakeGemini(t, gemini.Options{Git: []string{"user.name=Ada = L.", "user.email=ada@example.com"}}), req)
	data, err := os.ReadFile(filepath.Join(req.Dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Split(string(data), "\n")
	for _, want := range []string{
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=commit.gpgSign", "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=user.name",
		"GIT_CONFIG_VALUE_1=Ada = L.", "GIT_CONFIG_KEY_2=user.email", "GIT_CONFIG_VALUE_2=ada@example.com",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is not among %q", want, env)
		}
	}
}

// TestGeminiPrompt fails when a word of a brief brings whole folders with it, or a plain brief is changed.
func TestGeminiPrompt(t *testing.T) {
	t.Parallel()
	const note = "In what follows every @ is written \\@, so that your CLI takes no word for the name of a file to read out to you.\n" +
		"Read \\@ as @, and write a plain @ yourself.\n\n"
	for prompt, want := range map[string]string{
		"Write it.\n":                        "Write it.\n",
		"Use @app, \\@x and ada@example.com": note + "Use \\@app, \\\\@x and ada\\@example.com",
		" /help":                             note + " /help",
	} {
		req := geminiPrints(t, geminiInit, geminiPrompt, geminiClaim, geminiDone)
		if err := os.WriteFile(req.Prompt, []byte(prompt), 0o600); err != nil {
			t.Fatal(err)
		}
		runnertest.Run(t, fakeGemini(t, gemini.Options{}), req)
		got, err := os.ReadFile(filepath.Join(req.Dir, "stdin"))
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v; want %q", prompt, got, err, want)
		}
		if kept, _ := os.ReadFile(req.Prompt); string(kept) != prompt {
			t.Errorf("%q became %q", prompt, kept)
		}
	}
	req := geminiPrints(t)
	req.Prompt += ".gone"
	if r, err := fakeGemini(t, gemini.Options{}).Run(t.Context(), req); err == nil {
		t.Errorf("got %q without a prompt, want an error", r.Outcome)
	}
}

package runners_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/process"
	"relay/runners/runnertest"
)

const voiceVariable = "RUNNERTEST_VOICE"

// TestMain makes the test binary its own fake agents.
func TestMain(m *testing.M) {
	switch os.Getenv(voiceVariable) {
	case "plain":
		os.Exit(runnertest.Play(plainVoice))
	case "claude":
		os.Exit(runnertest.Play(claudeVoice))
	case "codex":
		os.Exit(runnertest.Play(codexVoice))
	case "opencode":
		os.Exit(runnertest.Play(opencodeVoice))
	case "gemini":
		os.Exit(runnertest.Play(geminiVoice))
	case "claude-script", "gemini-script":
		os.Exit(playClaudeScript())
	}
	if len(os.Args) == 3 && os.Args[1] == "__agent" {
		script, err := os.ReadFile(os.Args[2])
		if err != nil {
			os.Exit(99)
		}
		os.Exit(runners.RunScript(context.Background(), script, runners.ScriptEnv{
			Name: filepath.Base(os.Args[2]), Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		}))
	}
	if len(os.Args) == 2 && os.Args[1] == "__guardian" {
		if err := process.ServeGuardian(os.Stdin, os.Stdout); err != nil {
			os.Exit(97)
		}
		os.Exit(0)
	}
	os.Setenv(runnertest.LeakVariable, "1")
	os.Exit(m.Run())
}

// plainVoice is an agent that talks text and ends with a fenced block.
var plainVoice = runnertest.Voice{
	Begin: func(io.Writer) {},
	Say:   func(w io.Writer, text string) { fmt.Fprintln(w, text) },
	End: func(w io.Writer, result string) {
		fmt.Fprintln(w, "That is all.")
		if result != "" {
			fmt.Fprintf(w, "```relay-result\n%s\n```\n", result)
		}
	},
}

const claudeSession = "91085b9c-ea1a-4966-a557-436fcb9122ff"

// claudeVoice talks Claude Code's stream-json.
var claudeVoice = runnertest.Voice{
	Begin: func(w io.Writer) {
		event(w, map[string]any{"type": "system", "subtype": "init", "session_id": claudeSession, "model": "claude-sonnet-4-5"})
		event(w, map[string]any{"type": "assistant", "message": map[string]any{ // what it does then is in a tool
			"id": "msg_0", "content": []any{map[string]any{"type": "tool_use", "id": "toolu_0", "name": "Bash"}},
		}})
	},
	Say: func(w io.Writer, text string) {
		event(w, map[string]any{"type": "assistant", "session_id": claudeSession, "message": map[string]any{
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
		event(w, e)
	},
}

// codexVoice talks Codex's JSON lines.
var codexVoice = runnertest.Voice{
	Begin: func(w io.Writer) {
		event(w, map[string]any{"type": "thread.started", "thread_id": codexSession})
		event(w, map[string]any{"type": "turn.started"})
		event(w, map[string]any{"type": "item.started", "item": map[string]any{"id": "item_1", "type": "command_execution"}}) // what it does then
	},
	Say: codexSays,
	End: func(w io.Writer, result string) {
		text := "That is all."
		if result != "" {
			text += "\n```relay-result\n" + result + "\n```"
		}
		codexSays(w, text)
		event(w, map[string]any{"type": "turn.completed", "usage": map[string]any{"input_tokens": 10, "output_tokens": 2}})
	},
}

func codexSays(w io.Writer, text string) {
	event(w, map[string]any{"type": "item.completed", "item": map[string]any{"id": "item_0", "type": "agent_message", "text": text}})
}

// event prints one line, with "type" not the first key: json sorts them.
func event(w io.Writer, e map[string]any) {
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(e); err != nil {
		panic(err)
	}
	w.Write(line.Bytes())
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func program(t *testing.T, act runnertest.Act) string {
	if act == runnertest.Missing {
		return filepath.Join(t.TempDir(), "no-such-agent")
	}
	return self(t)
}

func TestClaudeConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		return runnertest.Cast{
			Runner: runners.NewClaude(sup, runners.ClaudeOptions{Program: program(t, act)}),
			Env:    []string{voiceVariable + "=claude"},
			Settings: []string{
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_MAX_RETRIES", "IS_SANDBOX",
			},
		}
	})
}

func TestCodexConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		return runnertest.Cast{
			Runner: runners.NewCodex(sup, runners.CodexOptions{Program: program(t, act)}),
			Env:    []string{voiceVariable + "=codex"},
		}
	})
}

func TestCommandConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		return runnertest.Cast{
			Runner: runners.NewCommand(sup, runners.CommandOptions{Argv: []string{program(t, act), "{task}"}, Final: true}),
			Env:    []string{voiceVariable + "=plain"},
		}
	})
}

func TestScriptedConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		script := filepath.Join(t.TempDir(), "script.yml")
		text := "sessions:\n  \"*\":\n    - - " + strings.Join(scripts[act], "\n      - ") + "\n"
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return runnertest.Cast{Runner: runners.NewScripted(sup, runners.ScriptedOptions{
			Argv: []string{program(t, act), "__agent"}, Script: script,
		})}
	})
}

// deafens makes ReadyFile once the agent ignores TERM, where the system shows that.
const deafens = `daemon: [sh, -c, "while test -d /proc/$PPID && ! grep -qi '^SigIgn:.*[4-7c-f]...$' /proc/$PPID/status; do :; done; touch ready"]`

// scripts are the acts as scripts.
var scripts = map[runnertest.Act][]string{
	runnertest.Succeed:    {`claim: {status: success, summary: did it}`},
	runnertest.Fail:       {`fence: {status: failure, summary: tried, error_summary: could not do it}`},
	runnertest.SayNothing: {`print: done`},
	runnertest.Babble:     {`claim: I think it went well`},
	runnertest.BeNoisy:    {`stderr: "warning: {}"`, `print: "{not json"`, `fence: {status: success, summary: did it}`},
	runnertest.HugeLine:   {`flood: {bytes: 20000000}`, `print: ""`, `fence: {status: success, summary: did it}`},
	runnertest.Flood:      {`flood: {bytes: 64000000, line: 100}`, `fence: {status: success, summary: did it}`},
	runnertest.Garbage: {`print: "be\x00fore \e[31mred \u202eafter"`,
		`claim: {status: success, summary: "be\x00fore \e[31mred\e[0m \u202eafter"}`},
	runnertest.Hang:       {`write: {path: ready, text: ""}`, `hang: polite`},
	runnertest.Stubborn:   {deafens, `hang: stubborn`},
	runnertest.Linger:     {`claim: {status: success, summary: did it}`, `write: {path: ready, text: ""}`, `hang: polite`},
	runnertest.Crash:      {`fail: boom`},
	runnertest.ReadPrompt: {`expect: "` + runnertest.PromptEnd + `"`, `fence: {status: success, summary: did it}`},
	runnertest.LookAround: {`run: [sh, -c, "tr '\\0' ' ' < /proc/$PPID/cmdline > argv; env | grep -v -e ^_= -e ^PWD= -e ^SHLVL= -e ^OLDPWD= > env"]`,
		`fence: {status: success, summary: did it}`},
	runnertest.LinkResult: {`run: [sh, -c, "echo '{\"status\":\"success\",\"summary\":\"x\"}' > elsewhere.json; ln -s \"$PWD/elsewhere.json\" \"$RELAY_RESULT\""]`},
	runnertest.Missing:    {`exit: 0`},
}

// playClaudeScript prints the lines of the file STREAM names, and ends as EXIT says.
func playClaudeScript() int {
	os.WriteFile("argv", []byte(strings.Join(os.Args[1:], "\n")), 0o600)
	data, err := os.ReadFile(os.Getenv("STREAM"))
	if err != nil {
		return 98
	}
	if prompt, err := io.ReadAll(os.Stdin); err == nil {
		os.WriteFile("stdin", prompt, 0o600)
	}
	os.Stderr.WriteString(os.Getenv("STDERR"))
	os.Stdout.Write(data)
	if os.Getenv("STAYS") != "" {
		os.WriteFile(runnertest.ReadyFile, nil, 0o600)
		<-time.After(time.Minute)
	}
	code, _ := strconv.Atoi(os.Getenv("EXIT"))
	return code
}

package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/runners"
	"relay/runners/claude"
	"relay/runners/process"
	"relay/runners/runnertest"
)

// What Claude Code keeps of a session: two requests, a tool's answer, what a subagent was asked, what the CLI said itself, and half a line.
const keptSession = `{"type":"queue-operation","operation":"enqueue","sessionId":"S"}
{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Write it.\n"}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}
{"type":"user","uuid":"s1","parentUuid":null,"isSidechain":true,"message":{"role":"user","content":"Fix it."}}
{"type":"user","uuid":"u3","parentUuid":"u2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Fix it."}]}}
{"type":"user","uuid":"u4","parentUuid":"u3","isMeta":true,"message":{"role":"user","content":"Fix it."}}
{"type":"user","uuid":"u5","parentUu
{"type":"assistant","uuid":"u6","parentUuid":"u4","message":{"id":"m2","content":[{"type":"text","text":"I wrote it."}]}}
{"type":"user","uuid":"u7","parentUuid":"u6","message":{"role":"user","content":[{"type":"text","text":"Fix it."}]}}
`

// Claude Code is told the file of the session and what stays of it, or is not started.
func TestClaudeForks(t *testing.T) {
	t.Parallel()
	const id = "5e5510ba-0000-4000-8000-000000000001"
	const gone, other = "its CLI has the session no more", "what its CLI has of the session is not what was recorded"
	elsewhere := map[string]string{"-w-b/" + id + ".jsonl": "{}\n", "-w-c/" + id + ".jsonl": keptSession}
	for name, c := range map[string]struct {
		f     runners.Fork
		files map[string]string
		want  string // the arguments, or why not
	}{
		"found":             {runners.Fork{Session: id, Asked: "Fix it.\n", Of: 1}, elsewhere, "--resume HOME/projects/-w-c/" + id + ".jsonl --fork-session --resume-session-at u6"},
		"asked more often":  {runners.Fork{Session: id, Asked: "Fix it.", Of: 2}, elsewhere, other},
		"another session":   {runners.Fork{Session: id[:35] + "2", Asked: "Fix it.", Of: 1}, elsewhere, gone},
		"no session":        {runners.Fork{Session: "../" + id, Asked: "Fix it.", Of: 1}, elsewhere, gone},
		"no files":          {runners.Fork{Session: id, Asked: "Fix it.", Of: 1}, nil, gone},
		"follows a flag":    {runners.Fork{Session: id, Asked: "Fix it.", Of: 1}, map[string]string{"a/" + id + ".jsonl": strings.Replace(keptSession, "u6", "--u", 2)}, gone},
		"asked at the very": {runners.Fork{Session: id, Asked: "Write it.", Of: 1}, elsewhere, "nothing was said before that in its session"},
	} {
		home := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(home, "projects", filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			runnertest.WriteFile(t, path, []byte(text))
		}
		req := runnertest.Prints(t, initLine, doneLine)
		req.Fork = &c.f
		o := claude.Options{Program: runnertest.Self(t), Env: []string{"CLAUDE_CONFIG_DIR=" + home}}
		got := runnertest.Run(t, claude.New(process.NewLocal(), o), req)
		argv, err := os.ReadFile(filepath.Join(req.Dir, "argv"))
		if err != nil {
			if got.Outcome != runners.NoSession || got.Detail != c.want {
				t.Errorf("%s: %s (%s), want %s", name, got.Outcome, got.Detail, c.want)
			}
			continue
		}
		said := filepath.ToSlash(strings.ReplaceAll(strings.ReplaceAll(string(argv), home, "HOME"), "\n", " "))
		if !strings.Contains(said, " --session-id ") || !strings.HasSuffix(said, c.want) {
			t.Errorf("%s: the arguments are %s, want %s", name, said, c.want)
		}
	}
}

// A CLI that has the file and refuses all the same has not begun.
func TestClaudeRefusesFork(t *testing.T) {
	t.Parallel()
	home, req := t.TempDir(), runnertest.Prints(t,
		`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No message found with message.uuid of: u6"]}`)
	folder := filepath.Join(home, "projects", "a")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	runnertest.WriteFile(t, filepath.Join(folder, "s.jsonl"), []byte(keptSession))
	req.Fork = &runners.Fork{Session: "s", Asked: "Fix it.", Of: 1}
	got := runnertest.Run(t, claude.New(process.NewLocal(), claude.Options{Program: runnertest.Self(t), Env: []string{"CLAUDE_CONFIG_DIR=" + home}}), req)
	if want := "cannot resume: No message found with message.uuid of: u6"; got.Outcome != runners.NoSession || got.Detail != want {
		t.Errorf("%s (%s), want %s", got.Outcome, got.Detail, want)
	}
}

package labtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

// TestRealAgentsAsk has real CLIs ask a person, by their result and by a tool of relay's MCP server. The task waits without a process,
// relay is killed, the answer comes, and the next run continues the same session of the CLI from the work that was done.
func TestRealAgentsAsk(t *testing.T) {
	t.Parallel()
	asks := json.RawMessage(`{"status":"question","summary":"Half of it is done.","questions":["Which port?"]}`)
	inquiry := map[string]any{"summary": "Half of it is done.", "questions": []any{"Which port?"}}
	for _, name := range []string{"claude", "codex", "codex-scripting"} {
		for how, steps := range map[string][]modelserver.Step{
			"result": {{Answer: asks}},
			"tool":   {{Tool: "ask_person", With: inquiry}, {Say: "I have asked."}, {Say: "I have asked.", When: "You MUST call the StructuredOutput tool"}},
		} {
			t.Run(name+" by its "+how, func(t *testing.T) {
				t.Parallel()
				c := cliNamed(t, name)
				c.mcp = how == "tool"
				agentAsks(t, c, steps)
			})
		}
	}
}

func agentAsks(t *testing.T, c agentCLI, asks []modelserver.Step) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	l.model.Play(c.name, append([]modelserver.Step{{Write: "half.txt", Text: "half\n"}}, asks...)...)
	r := l.start("work", "--until", "1h")
	l.await("the run to wait for the answer", func() bool { return strings.Contains(l.events(), `"for":"your answer"`) })
	if left := l.agents(); len(left) > 0 {
		t.Errorf("the task waits with the processes %v", left)
	}
	r.signal(t, syscall.SIGKILL)
	l.end(r)
	l.quiet()
	l.run("status").says(t, `relay answer T1 "TEXT"`)

	l.model.Play(c.name, helloTask...)
	answer := l.run("answer", "T1", "Port 8080.")
	answer.wants(t, terminal.OK)
	answer.says(t, "T1 continues with your answer: relay work")
	l.work(terminal.OK).says(t, "T1 completed")
	if list := l.done("asked"); len(list) != 2 {
		t.Errorf("there were %d attempts, want one that asked and one that continued it", len(list))
	}
	for name, want := range map[string]string{"half.txt": "half", "hello.txt": "hello"} {
		if got := l.git("show", "relay/20260101-agents:"+name); got != want {
			t.Errorf("%s on the branch is %q, want %q", name, got, want)
		}
	}
	l.oneSession(c)
}

// events returns what the logs of all runs have so far.
func (l *agentLab) events() string {
	l.t.Helper()
	var all strings.Builder
	for _, name := range l.found(l.path(".agents-os/relay/runs/*/events.jsonl")) {
		all.WriteString(l.read(name))
	}
	return all.String()
}

// found returns the files of a pattern.
func (l *agentLab) found(pattern string) []string {
	l.t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		l.t.Fatal(err)
	}
	return files
}

// oneSession wants that the CLI's own files have one conversation, with the question and then the answer, and that its id is that of
// both attempts.
func (l *agentLab) oneSession(c agentCLI) {
	l.t.Helper()
	pattern := ".codex/sessions/*/*/*/rollout-*.jsonl"
	if c.name == "claude" {
		pattern = ".claude/projects/*/*.jsonl"
	}
	files := l.found(l.inHome(pattern))
	if len(files) != 1 {
		l.t.Fatalf("the CLI has the sessions %v, want one", files)
	}
	said := l.read(files[0])
	if asked, answered := strings.Index(said, "Which port?"), strings.Index(said, "Port 8080."); asked < 0 || answered < asked {
		l.t.Errorf("the session has the question at %d and the answer at %d", asked, answered)
	}
	id := strings.TrimSuffix(filepath.Base(files[0]), ".jsonl")
	id = id[max(len(id)-36, 0):]
	if n := len(regexp.MustCompile(`"attempt_ended".*"session_id":"`+id+`"`).FindAllString(l.events(), -1)); n != 2 {
		l.t.Errorf("%d attempts ended in the session %s, want both", n, id)
	}
	if _, err := os.Stat(l.path("half.txt")); err == nil {
		l.t.Error("the agent worked in the user's checkout")
	}
}

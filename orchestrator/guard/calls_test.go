package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files that the tool calls of each CLI name.
func TestCallsNameFiles(t *testing.T) {
	t.Parallel()
	const (
		claude   = `{"type":"system","subtype":"init","session_id":"s"}` + "\n" + `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"TOOL","input":INPUT}]}}`
		codex    = `{"type":"thread.started","thread_id":"s"}` + "\n" + `{"type":"item.completed","item":{"id":"i","type":"TOOL","status":"completed",INPUT}}`
		gemini   = `{"type":"init","session_id":"s","model":"m","timestamp":"2026-01-01T00:00:00Z"}` + "\n" + `{"type":"tool_use","tool_name":"TOOL","tool_id":"t","parameters":INPUT}`
		opencode = `{"type":"tool_use","sessionID":"s","part":{"type":"tool","tool":"TOOL","callID":"c","messageID":"m","state":{"status":"completed","input":INPUT}}}`
	)
	for _, c := range []struct {
		stream, tool, input string
		want                bool
	}{
		{claude, "Write", `{"file_path":"/home/a/app/lib/x.go","content":"x"}`, true},
		{claude, "Read", `{"file_path":"/home/a/app/lib/x.go"}`, false},
		{claude, "Bash", `{"command":"cd /home/a/app && mkdir -p lib\necho x > lib/x.go"}`, true},
		{claude, "Bash", `{"command":"(cd /home/a/app/; echo x >./lib/x.go)"}`, true},
		{claude, "Bash", `{"command":"echo x > lib/x.go"}`, false},
		{claude, "Bash", `{"command":"echo x > /home/a/app/lib/x.go.orig"}`, false},
		{claude, "Bash", `{"command":"cd /home/a/app/.agents-os/relay/worktrees/1; echo x > lib/x.go"}`, false},
		{claude, "Bash", `{"command":"echo x > /mnt/home/a/app/lib/x.go"}`, false},
		{claude, "mcp__files__write_file", `{"path":"/home/a/app/lib/x.go"}`, true},
		{codex, "file_change", `"changes":[{"path":"/home/a/app/lib/x.go","kind":"add"}]`, true},
		{codex, "command_execution", `"command":"bash -lc 'cat > /home/a/app/lib/x.go'","aggregated_output":"","exit_code":0`, true},
		{codex, "command_execution", `"command":"ls","aggregated_output":"/home/a/app/lib/x.go","exit_code":0`, false},
		{gemini, "write_file", `{"file_path":"/home/a/app/lib/x.go","content":"x"}`, true},
		{gemini, "run_shell_command", `{"command":"echo x > lib/x.go","dir_path":"/home/a/app"}`, true},
		{opencode, "apply_patch", `{"patchText":"*** Begin Patch\n*** Update File: /home/a/app/lib/x.go\n@@\n"}`, true},
		{"I wrote TOOL, INPUT", "/home/a/app/lib/x.go", "", false},
	} {
		folder := t.TempDir()
		text := []byte(strings.NewReplacer("TOOL", c.tool, "INPUT", c.input).Replace(c.stream) + "\n")
		if err := os.WriteFile(filepath.Join(folder, "transcript.jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		all := calls(folder, "/home/a/app")
		writes, got := all["lib/x.go"]
		if got != c.want || writes == runs.MatchString(c.tool) && got {
			t.Errorf("%s %s: got %v", c.tool, c.input, all)
		}
	}
}

package runners_test

import (
	"strings"
	"testing"
	"time"

	"relay/runners"
)

// TestWhoseSilence fails when an agent pays for a model that does not answer, or a provider for a command that hangs.
func TestWhoseSilence(t *testing.T) {
	t.Parallel()
	const (
		silent  = "no answer from the model: no output for too long: 300ms"
		late    = "no answer from the model: time limit passed: 300ms"
		hangs   = "no output for too long: 300ms"
		toolUse = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`
		toolEnd = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`
	)
	ended := strings.Replace(toolStarted, "item.started", "item.completed", 1)
	for _, c := range []struct {
		name   string
		cli    string
		wall   bool
		lines  []string
		want   runners.Outcome
		detail string
	}{
		{"a command hangs", "codex", false, []string{threadLine, turnLine, toolStarted}, runners.SilenceLimit, hangs},
		{"no answer to a command's end", "codex", false, []string{threadLine, turnLine, toolStarted, ended}, runners.Network, silent},
		{"no answer at all", "codex", true, []string{threadLine, turnLine}, runners.Network, late},
		{"no time left", "codex", true, []string{threadLine, turnLine, toolStarted, ended}, runners.WallLimit, "time limit passed: 300ms"},
		{"a command hangs", "claude", false, []string{initLine, toolUse}, runners.SilenceLimit, hangs},
		{"no answer to a command's end", "claude", false, []string{initLine, toolUse, toolEnd}, runners.Network, silent},
		{"no answer at all", "claude", true, []string{initLine}, runners.Network, late},
		{"no time left", "claude", true, []string{initLine, toolUse, toolEnd}, runners.WallLimit, "time limit passed: 300ms"},
	} {
		req := claudePrints(t, append(c.lines, "")...)
		req.Env = append(req.Env, "STAYS=1")
		req.Limits = runners.Limits{Silence: 300 * time.Millisecond, StopGrace: time.Minute}
		if c.wall {
			req.Limits.Silence, req.Limits.Wall = 0, 300*time.Millisecond
		}
		var runner runners.Runner = runners.NewCodex(local(req), runners.CodexOptions{Program: self(t)})
		if c.cli == "claude" {
			runner = runners.NewClaude(local(req), runners.ClaudeOptions{Program: self(t)})
		}
		if r := run(t, runner, req); r.Outcome != c.want || r.Detail != c.detail {
			t.Errorf("%s: %s: got %q (%s), want %q (%s)", c.cli, c.name, r.Outcome, r.Detail, c.want, c.detail)
		}
	}
}

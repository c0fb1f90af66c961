package claude_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/claude"
	"relay/runners/runnertest"
)

// TestWhoseSilence fails when an agent pays for a model that does not answer, or a provider for a command that hangs.
func TestWhoseSilenceClaude(t *testing.T) {
	t.Parallel()
	const (
		silent  = "no answer from the model: no output for too long: 300ms"
		late    = "no answer from the model: time limit passed: 300ms"
		hangs   = "no output for too long: 300ms"
		toolUse = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`
		toolEnd = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`
	)
	for _, c := range []struct {
		name   string
		wall   bool
		lines  []string
		want   runners.Outcome
		detail string
	}{
		{"a command hangs", false, []string{initLine, toolUse}, runners.SilenceLimit, hangs},
		{"no answer to a command's end", false, []string{initLine, toolUse, toolEnd}, runners.Network, silent},
		{"no answer at all", true, []string{initLine}, runners.Network, late},
		{"no time left", true, []string{initLine, toolUse, toolEnd}, runners.WallLimit, "time limit passed: 300ms"},
	} {
		req := runnertest.Prints(t, append(c.lines, "")...)
		req.Env = append(req.Env, "STAYS=1")
		req.Limits = runners.Limits{Silence: 300 * time.Millisecond, StopGrace: time.Minute}
		if c.wall {
			req.Limits.Silence, req.Limits.Wall = 0, 300*time.Millisecond
		}
		r := runnertest.Run(t, claude.New(runnertest.Local(req), claude.Options{Program: runnertest.Self(t)}), req)
		if r.Outcome != c.want || r.Detail != c.detail {
			t.Errorf("%s: got %q (%s), want %q (%s)", c.name, r.Outcome, r.Detail, c.want, c.detail)
		}
	}
}

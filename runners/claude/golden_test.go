package claude_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/claude"
	"relay/runners/process"
	"relay/runners/runnertest"
)

func capturedClaude() runnertest.Captured {
	return runnertest.Captured{Dir: "testdata/captured", Make: func(sup process.Supervisor) runners.Runner {
		return claude.New(sup, claude.Options{
			Now: func() time.Time { return time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC) },
		})
	}}
}

// TestCapturedClaude holds the outcome of every captured run of Claude Code.
func TestCapturedClaude(t *testing.T) {
	t.Parallel()
	capturedClaude().Hold(t, *update)
}

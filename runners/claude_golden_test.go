package runners_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/process"
)

func capturedClaude() library {
	return library{"testdata/claude", func(sup process.Supervisor) runners.Runner {
		return runners.NewClaude(sup, runners.ClaudeOptions{
			Now: func() time.Time { return time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC) },
		})
	}}
}

// TestCapturedClaude holds the outcome of every captured run of Claude Code.
func TestCapturedClaude(t *testing.T) {
	t.Parallel()
	capturedClaude().hold(t)
}

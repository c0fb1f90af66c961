package runners_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/process"
)

func capturedCodex() library {
	return library{"testdata/codex", func(sup process.Supervisor) runners.Runner {
		return runners.NewCodex(sup, runners.CodexOptions{
			Now: func() time.Time { return time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC) },
		})
	}}
}

// TestCapturedCodex holds the outcome of every captured run of Codex.
func TestCapturedCodex(t *testing.T) {
	t.Parallel()
	capturedCodex().hold(t)
}

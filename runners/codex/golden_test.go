package codex_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/codex"
	"relay/runners/process"
	"relay/runners/runnertest"
)

func capturedCodex() runnertest.Captured {
	return runnertest.Captured{Dir: "testdata/captured", Make: func(sup process.Supervisor) runners.Runner {
		return codex.New(sup, codex.Options{
			Now: func() time.Time { return time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC) },
		})
	}}
}

// TestCapturedCodex holds the outcome of every captured run of Codex.
func TestCapturedCodex(t *testing.T) {
	t.Parallel()
	capturedCodex().Hold(t, *update)
}

package gemini_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/gemini"
	"relay/runners/process"
	"relay/runners/runnertest"
)

func capturedGemini() runnertest.Captured {
	return runnertest.Captured{Dir: "testdata/captured", Make: func(sup process.Supervisor) runners.Runner {
		return gemini.New(sup, gemini.Options{
			Now: func() time.Time { return time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC) },
		})
	}}
}

// TestCapturedGemini holds the outcome of every captured run of Gemini CLI.
func TestCapturedGemini(t *testing.T) {
	t.Parallel()
	capturedGemini().Hold(t, *update)
}

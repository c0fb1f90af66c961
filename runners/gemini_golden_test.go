package runners_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/process"
)

func capturedGemini() library {
	return library{"testdata/gemini", func(sup process.Supervisor) runners.Runner {
		return runners.NewGemini(sup, runners.GeminiOptions{
			Now: func() time.Time { return time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC) },
		})
	}}
}

// TestCapturedGemini holds the outcome of every captured run of Gemini CLI.
func TestCapturedGemini(t *testing.T) {
	t.Parallel()
	capturedGemini().hold(t)
}

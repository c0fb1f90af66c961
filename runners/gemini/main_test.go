package gemini_test

import (
	"flag"
	"testing"

	"relay/runners/runnertest"
)

// TestMain makes the test binary its own fake gemini.
func TestMain(m *testing.M) { runnertest.Main(m, map[string]runnertest.Voice{"gemini": geminiVoice}) }

var update = flag.Bool("update", false, "rewrite the golden files")

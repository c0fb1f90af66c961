package claude_test

import (
	"flag"
	"testing"

	"relay/runners/runnertest"
)

// TestMain makes the test binary its own fake claude.
func TestMain(m *testing.M) { runnertest.Main(m, map[string]runnertest.Voice{"claude": claudeVoice}) }

var update = flag.Bool("update", false, "rewrite the golden files")

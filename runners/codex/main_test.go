package codex_test

import (
	"flag"
	"testing"

	"relay/runners/runnertest"
)

// TestMain makes the test binary its own fake codex.
func TestMain(m *testing.M) { runnertest.Main(m, map[string]runnertest.Voice{"codex": codexVoice}) }

var update = flag.Bool("update", false, "rewrite the golden files")

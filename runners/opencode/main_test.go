package opencode_test

import (
	"flag"
	"testing"

	"relay/runners/runnertest"
)

// TestMain makes the test binary its own fake opencode.
func TestMain(m *testing.M) {
	runnertest.Main(m, map[string]runnertest.Voice{"opencode": opencodeVoice})
}

var update = flag.Bool("update", false, "rewrite the golden files")

package command_test

import (
	"testing"

	"relay/runners/runnertest"
)

// TestMain makes the test binary its own fake agent.
func TestMain(m *testing.M) { runnertest.Main(m, map[string]runnertest.Voice{"plain": plainVoice}) }

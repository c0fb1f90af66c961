package command_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"relay/runners/command"
	"relay/runners/runnertest"
)

// TestMain makes the test binary its own scripted agent.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "__agent" {
		text, err := os.ReadFile(os.Args[2])
		if err != nil {
			os.Exit(99)
		}
		os.Exit(command.RunScript(context.Background(), text, command.ScriptEnv{
			Name: filepath.Base(os.Args[2]), Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		}))
	}
	runnertest.Main(m, map[string]runnertest.Voice{"plain": plainVoice})
}

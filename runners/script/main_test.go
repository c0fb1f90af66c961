package script_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"relay/runners/runnertest"
	"relay/runners/script"
)

// TestMain makes the test binary its own scripted agent.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "__agent" {
		text, err := os.ReadFile(os.Args[2])
		if err != nil {
			os.Exit(99)
		}
		os.Exit(script.Run(context.Background(), text, script.Env{
			Name: filepath.Base(os.Args[2]), Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		}))
	}
	runnertest.Main(m, nil)
}

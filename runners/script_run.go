package runners

import (
	"context"
	"fmt"
	"io"
)

// ScriptEnv is where the scripted agent runs.
type ScriptEnv struct {
	Name           string   // of the script, for messages
	Environ        []string // RELAY_ATTEMPT and RELAY_TASK say which steps are meant, RELAY_RESULT where claims go
	Dir            string   // working directory
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// RunScript is the scripted agent itself: it carries out the steps the script has for this task and attempt, and
// returns the exit status.
func RunScript(ctx context.Context, script []byte, env ScriptEnv) int {
	fmt.Fprintln(env.Stderr, "not built yet")
	return 2
}

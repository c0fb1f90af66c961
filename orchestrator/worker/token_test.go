package worker

import (
	"os"
	"path/filepath"
	"testing"

	"relay/attempts"
)

// What stands in the way of an attempt's token costs the agent relay's MCP server, and not the attempt.
func TestTokenThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	if err := os.MkdirAll(filepath.Join(y.l.run.o.Dir, attempts.RunsDir, y.l.run.o.Run, "T1", "1", "token", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	y.proved("T1", `test -z "$RELAY_TOKEN"; echo done > done; git add done; git commit -qm T1`)
	y.proved("T2", `test -n "$RELAY_TOKEN"; echo done > two; git add two; git commit -qm T2`)
}

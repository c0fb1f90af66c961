package worker

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// Reviewers who were killed while they read in the checkout may have left something there.
func TestJudgingInTheCheckoutIsSettledThere(t *testing.T) {
	t.Parallel()
	o := &engine.LocalOptions{Options: engine.Options{Dir: t.TempDir(), Isolation: engine.IsolationWorktree}}
	if err := os.WriteFile(filepath.Join(o.Dir, judgingName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := refuseOtherIsolation(t.Context(), o, nil, nil)
	var refused *text.RefusedError
	want := text.RefusedError{
		Reason: "a run with isolation: none was killed while reviewers read or checks ran in this checkout, and what was left is to be looked at there",
		Hint:   "relay work --isolation none goes on with it",
	}
	if !errors.As(err, &refused) || *refused != want {
		t.Errorf("got %v, want %+v", err, want)
	}
}

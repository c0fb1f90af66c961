package agentlog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/terminal"
)

func TestHints(t *testing.T) {
	t.Parallel()
	for hint, err := range map[string]error{
		"move that file elsewhere: relay leaves it as it is; relay sessions import makes a new one": sessions.ErrForeign,
		"use the newer relay":                                                              sessions.ErrNewer,
		"type the command again when that process is done":                                 sessions.ErrLocked,
		"relay sessions import puts it aside and reads everything in again":                sessions.ErrDamaged,
		"relay work writes it; relay sessions import reads in what earlier runs have left": sessions.ErrMissing,
	} {
		got := Hinted(fmt.Errorf("agents-ledger.db: %w", err))
		if h, ok := errors.AsType[*terminal.Hinted](got); !ok || h.Hint != hint || h.Error() != "agents-ledger.db: "+err.Error() {
			t.Errorf("%v: got %#v", err, got)
		}
	}
	if other := errors.New("other"); !errors.Is(Hinted(other), other) || Hinted(nil) != nil {
		t.Error("an error that nothing is known of gets a hint")
	}
}

// The path of a worktree is left out of what another agent is told: it is long, and the files are elsewhere now.
func TestSaidNamesFilesFromTheTop(t *testing.T) {
	t.Parallel()
	long := "/home/" + strings.Repeat("u", 150) + "/.local/state/relay/worktrees/app-0123456789abcdef/"
	b := Branch{Before: []sessions.Said{{Calls: []sessions.ToolCall{
		{Tool: "write", ParamsJSON: `{"path":"` + long + `12/mango.txt"}`, Status: "success"},
		{Tool: "write", ParamsJSON: `{"path":"/home/u/app/mango.txt"}`, Status: "success"},
	}}}}
	want := []string{`write {"path":"mango.txt"}: success`, `write {"path":"/home/u/app/mango.txt"}: success`}
	if got := b.Said()[0].Tools; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package sessionview

import (
	"errors"
	"fmt"
	"testing"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/exit"
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
		got := hinted(fmt.Errorf("agents-ledger.db: %w", err))
		if h, ok := errors.AsType[*exit.Hinted](got); !ok || h.Hint != hint || h.Error() != "agents-ledger.db: "+err.Error() {
			t.Errorf("%v: got %#v", err, got)
		}
	}
	if other := errors.New("other"); !errors.Is(hinted(other), other) || hinted(nil) != nil {
		t.Error("an error that nothing is known of gets a hint")
	}
}

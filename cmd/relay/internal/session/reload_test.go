package session

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
)

// What a run cannot be told, the user is, with what to type instead.
func TestNotTold(t *testing.T) {
	t.Parallel()
	h := &attempts.Holder{PID: 42}
	for _, c := range []struct {
		err           error
		message, hint string
	}{
		{errors.ErrUnsupported, "a run on this system cannot be told to reload", "stop it with Ctrl-C, then relay work goes on with the new plan; nothing is lost"},
		{fmt.Errorf("os: %w", os.ErrProcessDone), "no run is active", "relay work starts one, with epic.yml as it is then"},
		{syscall.EPERM, "process 42 is another user's", "ask the user who started that run to type relay reload"},
		{syscall.EINVAL, "tell process 42: invalid argument", "relay check looks at the repository, the disk and the programs"},
	} {
		d := exit.Diagnose(signalError(h, c.err))
		if d.Code != exit.Failure || d.Messages[0] != c.message || d.Hint != c.hint {
			t.Errorf("%v: %+v, want %s; %s", c.err, d, c.message, c.hint)
		}
	}
	if err := signalError(h, nil); err != nil {
		t.Error(err)
	}
}

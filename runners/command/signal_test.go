package command

import (
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
)

func TestSignalThatEndsNothing(t *testing.T) {
	t.Parallel()
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	synctest.Test(t, func(t *testing.T) {
		if err, want := signalSelf("HUP"), "signal HUP did not end it"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

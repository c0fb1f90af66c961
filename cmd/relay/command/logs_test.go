package command

import (
	"errors"
	"testing"

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/terminal"
)

func TestLogsOfARunThatHasJustBegun(t *testing.T) {
	t.Parallel()
	view := &attempts.View{Running: true, Ledger: &attempts.Ledger{}}
	_, err := new(agentlog.Viewer).AtWork(view, false)
	hint, ok := errors.AsType[*terminal.Hinted](err)
	if !ok || err.Error() != "no task is at work yet" || hint.Hint != "relay status shows what the run waits for" {
		t.Errorf("got %v", err)
	}
	if list, err := new(agentlog.Viewer).AtWork(view, true); err != nil || len(list) > 0 {
		t.Errorf("followed: got %v, %v", list, err)
	}
	if list, err := (logsOptions{follow: true, task: "T1"}).ofTask(&attempts.View{Ledger: view.Ledger}, ""); err == nil {
		t.Errorf("no run is on: got %v", list)
	}
}

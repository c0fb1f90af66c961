// Package guardian starts the guardian of a run, hides relay's own process from agents and checks, and refuses commands that are for
// people to what a run has started.
package guardian

import (
	"os"
	"sync"

	"relay/cmd/relay/internal/cli"
	"relay/orchestrator/secrets"
	"relay/runners/process"
)

// Command is the hidden command by which relay starts itself as a guardian; the folder where the user typed comes behind it.
const Command = "__guardian"

// Start starts a guardian while prepare runs, since each takes as long as the other, and hides this process from agents. It fails, and
// ends the guardian, when prepare fails.
func Start(a *cli.App, prepare func() error) (*process.Guardian, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := a.Folder()
	if err != nil {
		return nil, err
	}
	conceal(a)
	var guardian *process.Guardian
	var failed error
	var start sync.WaitGroup
	start.Go(func() {
		guardian, failed = process.StartGuardian([]string{self, Command, folder}, secrets.Without(a.Environ), nil)
	})
	start.Go(process.ReserveThreads)
	err = prepare()
	start.Wait()
	switch {
	case failed == nil && err != nil:
		_ = guardian.Close() // it has nothing to tell that matters more
	case failed != nil && err == nil:
		err = failed
	}
	return guardian, err
}

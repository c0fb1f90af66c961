package cli

import (
	"os"
	"sync"

	"relay/orchestrator/secrets"
	"relay/runners/process"
)

// GuardianCommand is the hidden command by which relay starts itself as a guardian; the folder where the user typed comes behind it.
const GuardianCommand = "__guardian"

// StartGuardian starts a guardian while prepare runs, since each takes as long as the other, and hides this process from agents. It fails,
// and ends the guardian, when prepare fails.
func StartGuardian(a *App, prepare func() error) (*process.Guardian, error) {
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
		guardian, failed = process.StartGuardian([]string{self, GuardianCommand, folder}, secrets.Without(a.Environ))
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

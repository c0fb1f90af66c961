package engine

import (
	"relay/epic"
	"relay/orchestrator/secrets"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/process"
)

// LocalOptions are the options of a run, with what a run on this machine needs besides and no other machine can be given.
type LocalOptions struct {
	Options
	Graph      *epic.Graph                                                       // of the epic
	Repo       *git.Repo                                                         // the checkout at Root
	NewRunner  func(name string, sup process.Supervisor) (runners.Runner, error) // makes the runner of a name
	Supervisor process.Supervisor
	Secrets    *secrets.Redactor           // of what is recorded and told
	Allowed    func(refused []string) bool // whether the sandbox of the run allows what one has refused; or nil
	State      string                      // relay's folder for state, which the user's runs on this machine share; "": none
}

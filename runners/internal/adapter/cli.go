package adapter

import (
	"relay/runners"
	"relay/runners/process"
)

// CLI describes an agent CLI to package kinds. A function that is nil means that relay knows nothing of the kind.
type CLI struct {
	New          func(process.Supervisor, Options) (runners.Runner, error)
	Conversation func() runners.MessageReader
	Begins       func(first []byte) bool // whether it prints such a line first
	OwnSettings  func(env []string, dir, model string) runners.OwnSettings
	Facts        runners.Facts
}

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
	OwnSessions  runners.OwnSessions
	Facts        runners.Facts
}

// Begins returns a function that reports whether a line is the first that a CLI prints.
func Begins[E any](first func(*E) bool) func([]byte) bool {
	return func(line []byte) bool {
		ev, _ := ReadJSON[E](line)
		return ev != nil && first(ev)
	}
}

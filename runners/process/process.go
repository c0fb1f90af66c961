// Package process starts, watches and ends the processes of a run.
//
// There is one place that starts children. It runs inside the guardian: relay itself, re-executed, which is the parent of
// every agent and acceptance command, a subreaper on Linux, and outlives a killed relay just long enough to end them all and to
// write down how each ended.
//
// The guardian writes how each process ended to end.json before it tells relay, and when relay's pipe closes without a goodbye it
// ends them all. So a killed relay leaves no agent behind, and an agent that had finished is not run twice: its output is read
// again (Ended). A process that calls setsid is still a descendant of the guardian; if the guardian dies, relay, a subreaper too, ends what
// becomes its child. Neither lets other processes of the user into its memory or environment (Conceal).
//
// Limits are measured on a clock that cannot be set and that stops while the machine sleeps. Whatever waits does so for a limited
// time: for a guardian that is stopped (it is continued) or does not answer (it is killed), and for room for another process.
package process

import (
	"context"
	"time"

	"relay/runners/sandbox"
)

// Supervisor starts processes. Local does it in this process; Guardian asks a guardian to.
type Supervisor interface {
	// Start returns when the program runs, or with an error wrapping exec.ErrNotFound, fs.ErrNotExist or
	// fs.ErrPermission when it cannot. The process is stopped when ctx is cancelled.
	Start(ctx context.Context, cmd Command) (Process, error)
}

// Process is one running command.
type Process interface {
	// Wait returns when the process, its group and everything found that it started are gone.
	Wait() Exit
	// Stop asks the process to end now: StopSignal to the group, KILL after StopGrace. It does not wait.
	Stop()
}

// Command is one program to run. Its output goes to regular files: several agent CLIs lose the end of their output
// through a pipe and still exit with 0.
type Command struct {
	Argv       []string      `json:"argv"` // Argv[0] is looked up in PATH of Env
	Env        []string      `json:"env"`  // complete; RELAY_ATTEMPT is added from Mark
	Dir        string        `json:"dir"`
	Stdin      string        `json:"stdin,omitempty"` // "" : the null device
	Stdout     string        `json:"stdout"`          // created with mode 0600, appended to
	Stderr     string        `json:"stderr"`          // may equal Stdout
	End        string        `json:"end,omitempty"`   // Exit is written here as JSON before Wait returns; "" : nowhere
	Mark       string        `json:"mark"`
	StopSignal string        `json:"stop_signal,omitempty"` // "TERM" (default) or "INT"
	StopGrace  time.Duration `json:"stop_grace"`
	StopAgain  time.Duration `json:"stop_again,omitempty"` // how long after StopSignal it gets another one; 0: it gets one

	Role sandbox.Role  `json:"role,omitempty"` // what it is for; with CLI, the type of the agent, it decides the wall
	CLI  string        `json:"cli,omitempty"`
	Wall *sandbox.Wall `json:"wall,omitempty"` // what it is started in; nil: nothing holds it

	Allow []string `json:"-"` // of what the sandbox has refused it before: a trial
}

// Exit records how a process ended.
type Exit struct {
	Code    int           `json:"code"`              // exit status; -1 when a signal ended it, or it is unknown
	Signal  string        `json:"signal,omitempty"`  // "KILL", "TERM", …
	Killed  bool          `json:"killed,omitempty"`  // we had to use KILL after the grace
	Stopped bool          `json:"stopped,omitempty"` // we asked it to stop
	Strays  int           `json:"strays,omitempty"`  // processes it had left behind, ended by us
	Lost    bool          `json:"lost,omitempty"`    // the guardian died: the end was not seen
	Elapsed time.Duration `json:"elapsed"`

	Refused string `json:"refused,omitempty"` // paths and hosts by the sandbox, with spaces between: see sandbox.Wall.Refused
	Barred  bool   `json:"barred,omitempty"`  // by the sandbox: its program cannot even print its version there

	Heavy bool `json:"-"` // what it wrote is a large part of what its disk has lost meanwhile

	StoppedAt time.Time `json:"stopped_at,omitzero"` // when we asked it to stop
	Said      int64     `json:"said,omitempty"`      // bytes of its Stdout by then
}

// Ended returns a Supervisor for a process that ran under a relay that was killed, and whose end was seen: it starts
// nothing, and the process it hands out has already ended so.
func Ended(exit Exit) Supervisor { return ended{exit} }

type ended struct{ exit Exit }

func (e ended) Start(context.Context, Command) (Process, error) { return e, nil }

func (e ended) Wait() Exit { return e.exit }

func (e ended) Stop() {}

package process

import (
	"errors"
	"io/fs"
	"os/exec"
	"syscall"
)

// request is one message from relay to the guardian. Messages are gobs: paths, arguments and variables need not be UTF-8.
type request struct {
	Do      verb
	ID      uint64
	Command Command
}

// reply is one message from the guardian to relay.
type reply struct {
	Did   verb
	ID    uint64
	Exit  Exit
	Error string
	Cause string
}

// verb names what a message asks for or tells.
type verb string

const (
	doStart verb = "start"
	doStop  verb = "stop"
	doKill  verb = "kill" // everything, now
	doLeave verb = "leave"

	didStart verb = "started"
	didFail  verb = "failed"
	didExit  verb = "exited"
)

// causes are the errors that callers of Start tell apart.
var causes = map[string]error{
	"not found":  exec.ErrNotFound,
	"not exist":  fs.ErrNotExist,
	"permission": fs.ErrPermission,
	"processes":  syscall.EAGAIN,
	"memory":     syscall.ENOMEM,
	"files":      syscall.ENFILE,
}

// startError is an error of the guardian's machine, told in relay's.
type startError struct {
	text  string
	cause error
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.cause }

func failed(id uint64, err error) reply {
	r := reply{Did: didFail, ID: id, Error: err.Error()}
	for name, cause := range causes {
		if errors.Is(err, cause) {
			r.Cause = name
		}
	}
	return r
}

func (r reply) err() error { return &startError{text: r.Error, cause: causes[r.Cause]} }

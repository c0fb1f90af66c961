package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"syscall"
	"time"
)

// maxMessage bounds one message between relay and its guardian. The largest holds an environment, which the system
// itself bounds to less.
const maxMessage = 16 << 20

// request is one line from relay to the guardian.
type request struct {
	Do      verb    `json:"do"`
	ID      uint64  `json:"id,omitempty"`
	Command *packed `json:"command,omitempty"`
}

// packed is a Command as bytes: paths, arguments and variables need not be UTF-8, which JSON strings have to be.
type packed struct {
	Argv   [][]byte      `json:"argv"`
	Env    [][]byte      `json:"env"`
	Rest   [][]byte      `json:"rest"`
	Signal string        `json:"signal"`
	Grace  time.Duration `json:"grace"`
}

func pack(c Command) *packed {
	return &packed{
		Argv: bytesOf(c.Argv), Env: bytesOf(c.Env),
		Rest:   bytesOf([]string{c.Dir, c.Stdin, c.Stdout, c.Stderr, c.End, c.Mark}),
		Signal: c.StopSignal, Grace: c.StopGrace,
	}
}

func (p *packed) command() (Command, error) {
	rest := stringsOf(p.Rest)
	if len(rest) != 6 {
		return Command{}, fmt.Errorf("a command with %d fields", len(rest))
	}
	return Command{
		Argv: stringsOf(p.Argv), Env: stringsOf(p.Env),
		Dir: rest[0], Stdin: rest[1], Stdout: rest[2], Stderr: rest[3], End: rest[4], Mark: rest[5],
		StopSignal: p.Signal, StopGrace: p.Grace,
	}, nil
}

func bytesOf(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func stringsOf(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// reply is one line from the guardian to relay.
type reply struct {
	Did   verb   `json:"did"`
	ID    uint64 `json:"id"`
	Exit  *Exit  `json:"exit,omitempty"`
	Error string `json:"error,omitempty"`
	Cause string `json:"cause,omitempty"`
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

var errTooLong = errors.New("message to the guardian over 16 MiB")

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

// send writes one message with one Write.
func send(w io.Writer, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(data) >= maxMessage {
		return fmt.Errorf("%w: %d bytes", errTooLong, len(data))
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// receive reads one message. It returns io.EOF only between messages.
func receive(r *bufio.Reader, message any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return errTooLong
		}
		if err == nil && line == nil {
			return json.Unmarshal(part, message)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return json.Unmarshal(line, message)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
}

package process

import (
	"bufio"
	"encoding/binary"
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
	Do      verb   `json:"do"`
	ID      uint64 `json:"id,omitempty"`
	Command []byte `json:"command,omitempty"` // see pack
}

// pack writes a Command as bytes: each text behind its length. Paths, arguments and variables need not be UTF-8, which
// JSON strings have to be; and an environment of JSON values takes longer to read than a short program to run.
func pack(c Command) []byte {
	rest := []string{c.Dir, c.Stdin, c.Stdout, c.Stderr, c.End, c.Mark, c.StopSignal}
	b := make([]byte, 0, 4<<10)
	for _, list := range [][]string{c.Argv, c.Env, rest} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, text := range list {
			b = binary.AppendUvarint(b, uint64(len(text)))
			b = append(b, text...)
		}
	}
	return binary.AppendVarint(binary.AppendVarint(b, int64(c.StopGrace)), int64(c.StopAgain))
}

func unpack(b []byte) (Command, error) {
	var lists [3][]string
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)) { // whatever is counted has a byte at least
			b = nil
			return 0
		}
		b = b[size:]
		return min(n, uint64(len(b)))
	}
	for i := range lists {
		lists[i] = make([]string, number())
		for j := range lists[i] {
			n := number()
			lists[i][j], b = string(b[:n]), b[n:]
		}
	}
	grace, size := binary.Varint(b)
	again, more := binary.Varint(b[max(size, 0):])
	if rest := lists[2]; len(rest) == 7 && size > 0 && more > 0 && size+more == len(b) {
		return Command{
			Argv: lists[0], Env: lists[1],
			Dir: rest[0], Stdin: rest[1], Stdout: rest[2], Stderr: rest[3], End: rest[4], Mark: rest[5],
			StopSignal: rest[6], StopGrace: time.Duration(grace), StopAgain: time.Duration(again),
		}, nil
	}
	return Command{}, errors.New("a command that is cut off")
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

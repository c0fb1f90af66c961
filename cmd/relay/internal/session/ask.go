package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

// Request is what a person asks of the run that is on. It goes through the socket of the run's process, which replies there.
type Request struct {
	What   attempts.RequestKind `json:"what"`
	Task   string               `json:"task,omitempty"`
	Reason string               `json:"reason,omitempty"`
	Now    bool                 `json:"now,omitempty"`  // of a stop of the whole run: agents are killed
	Args   []string             `json:"args,omitempty"` // of Inside: the command
	Input  []byte               `json:"input,omitempty"`
}

// Reload asks the session to end its run and begin another one with the plan as it is then.
const Reload attempts.RequestKind = "reload"

// reply is what became of a request.
type reply struct {
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"` // it was refused; Hint says what to do instead
	Hint    string `json:"hint,omitempty"`

	Warnings string `json:"warnings,omitempty"` // of a command
}

// requestsLink is in the folder of an epic: a link to the socket of the process that takes requests. (A relay of before has a folder
// there, with requests as files.)
const requestsLink = "requests"

// Bounds of a request and its reply.
const (
	replyWait  = 10 * time.Second
	maxRequest = 1 << 20
)

// Ask asks something of the run that h describes, and returns the run's own words of what it does. The error is for the user: of a run
// that refuses, cannot be reached or does not answer.
func Ask(ctx context.Context, p *project.Project, h *attempts.Holder, q Request) (message string, err error) {
	if !h.Reachable() {
		return "", &terminal.Hinted{
			Err:  fmt.Errorf("the run is %s, which cannot be reached from here", terminal.HolderText(h)),
			Hint: "type that on " + plaintext.Fit(h.Host, 80) + ", or stop the run there",
		}
	}
	conn, err := dial(ctx, p, h)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	r, err := exchange(conn, q, maxRequest)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", &terminal.Hinted{Err: fmt.Errorf("process %d did not answer", h.PID), Hint: "relay status says whether it still runs, and what it does"}
	case r.Error != "":
		return "", &terminal.Hinted{Err: errors.New(r.Error), Hint: r.Hint}
	}
	return r.Message, nil
}

// exchange sends a request, and returns the reply of at most so many bytes.
func exchange(conn net.Conn, q Request, most int64) (r reply, err error) {
	if err = conn.SetDeadline(time.Now().Add(replyWait)); err == nil {
		err = json.NewEncoder(conn).Encode(q)
	}
	if err == nil {
		err = json.NewDecoder(io.LimitReader(conn, most)).Decode(&r)
	}
	return r, err
}

// dial connects to the run's process, and to no other one that listens in its place.
func dial(ctx context.Context, p *project.Project, h *attempts.Holder) (*net.UnixConn, error) {
	link := p.File(requestsLink)
	what := "takes no requests while it runs"
	if at, err := os.Readlink(link); err == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", at)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if conn, ok := conn.(*net.UnixConn); ok && err == nil {
			pid, err := Of(conn)
			if err == nil && pid == h.PID {
				return conn, nil
			}
			_ = conn.Close()
			what = fmt.Sprintf("is not the one that takes requests at %s", p.Rel(link))
		}
	}
	return nil, &terminal.Hinted{
		Err:  fmt.Errorf("process %d %s", h.PID, what),
		Hint: "stop it with Ctrl-C where it was started, type that again, then relay work goes on; nothing is lost",
	}
}

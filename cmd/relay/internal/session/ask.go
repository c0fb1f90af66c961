package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/text"
)

// Request is what a person asks of the run that is on. It reaches the run as a file in the folder that the run's process has made for
// itself, with a signal to look there; the reply comes back in the same way. A folder of a process that is gone is nobody's.
type Request struct {
	What   attempts.RequestKind `json:"what"`
	Task   string               `json:"task,omitempty"`
	Reason string               `json:"reason,omitempty"`
	Now    bool                 `json:"now,omitempty"` // of a stop of the whole run: agents are killed
}

// reply is what became of a request.
type reply struct {
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"` // it was refused; Hint says what to do instead
	Hint    string `json:"hint,omitempty"`
}

// requestsDir is in the folder of an epic. It has a folder for each process that takes requests.
const requestsDir = "requests"

// Endings of the names of files in such a folder.
const (
	requestFile = ".json"
	takenFile   = ".taken"
	replyFile   = ".reply"
)

// requestDir returns the folder of a process.
func requestDir(p *project.Project, pid int) string {
	return filepath.Join(p.File(requestsDir), strconv.Itoa(pid))
}

// How long a request waits for its reply, and how often it looks and tells the run again.
const (
	replyWait  = 10 * time.Second
	replyPause = 20 * time.Millisecond
	replyAgain = time.Second
)

// Ask asks something of the run that h describes, and returns the run's own words of what it does. The error is for the user: of a run
// that refuses, cannot be reached or does not answer.
func Ask(ctx context.Context, p *project.Project, h *attempts.Holder, q Request) (message string, err error) {
	run, err := os.FindProcess(h.PID) // before it is looked at: what is found stays the same process
	if err != nil {
		return "", project.ErrNoRun()
	}
	defer func() { _ = run.Release() }()
	if !h.Reachable() {
		return "", &exit.Hinted{
			Err:  fmt.Errorf("the run is %s, which cannot be reached from here", exit.HolderText(h)),
			Hint: "type that on " + text.Line(h.Host, 80) + ", or stop the run there",
		}
	}
	dir := requestDir(p, h.PID)
	if _, err := os.Stat(dir); err != nil {
		return "", &exit.Hinted{
			Err:  fmt.Errorf("process %d takes no requests while it runs", h.PID),
			Hint: "stop it with Ctrl-C, type that again, then relay work goes on; nothing is lost",
		}
	}
	content, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	c := call{name: filepath.Join(dir, rand.Text()), run: run, holder: h}
	if err := project.ReplaceFile(c.name+requestFile, content); err != nil {
		return "", err
	}
	defer c.clear()
	return c.wait(ctx)
}

// call is a request under way.
type call struct {
	name   string // of its files, without the ending
	run    *os.Process
	holder *attempts.Holder
}

// wait tells the run of the request until it has replied.
func (c *call) wait(ctx context.Context) (message string, err error) {
	look, again, late := time.NewTicker(replyPause), time.NewTicker(replyAgain), time.NewTimer(replyWait)
	defer look.Stop()
	defer again.Stop()
	defer late.Stop()
	_, request := userSignals()
	if err := askError(c.holder, send(c.run, request)); err != nil {
		return "", err
	}
	for {
		content, err := project.ReadFile(c.name+replyFile, 1<<20)
		if err == nil {
			return c.read(content)
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-look.C:
		case <-again.C:
			if err := send(c.run, request); errors.Is(err, os.ErrProcessDone) {
				return "", c.unanswered()
			}
		case <-late.C:
			return "", c.unanswered()
		}
	}
}

// unanswered withdraws the request of a run that does not reply, and says what became of it.
func (c *call) unanswered() error {
	hint := "relay status says whether it still runs"
	if os.Remove(c.name+requestFile) != nil { // it has taken it
		return &exit.Hinted{Err: fmt.Errorf("process %d took the request and did not answer", c.holder.PID), Hint: hint}
	}
	return &exit.Hinted{Err: fmt.Errorf("process %d did not answer: nothing was changed", c.holder.PID), Hint: hint}
}

func (c *call) read(content []byte) (string, error) {
	var r reply
	if err := json.Unmarshal(content, &r); err != nil {
		return "", fmt.Errorf("the reply of process %d cannot be read: %w", c.holder.PID, err)
	}
	if r.Error != "" {
		return "", &exit.Hinted{Err: errors.New(r.Error), Hint: r.Hint}
	}
	return r.Message, nil
}

// clear removes what is left of the request, with folders that nobody needs any more.
func (c *call) clear() {
	_ = os.Remove(c.name + requestFile)
	_ = os.Remove(c.name + replyFile)
	if alive(c.holder.PID) {
		return
	}
	_ = os.Remove(filepath.Dir(c.name))
	_ = os.Remove(filepath.Dir(filepath.Dir(c.name)))
}

// alive reports whether there is a process with this pid.
func alive(pid int) bool {
	found, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = found.Release() }()
	return !errors.Is(probe(found), os.ErrProcessDone)
}

// askError returns the error for the user of a run that could not be told of a request, nil when err is.
func askError(h *attempts.Holder, err error) error {
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return &exit.Hinted{
			Err:  errors.New("a run on this system takes no requests"),
			Hint: "stop it with Ctrl-C, type that again, then relay work goes on; nothing is lost",
		}
	case errors.Is(err, os.ErrPermission):
		return &exit.Hinted{Err: fmt.Errorf("process %d is another user's", h.PID), Hint: "ask the user who started that run"}
	}
	return signalError(h, err)
}

package adapter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"relay/runners/process"
)

// A machine that has no room for another process has some again when whoever took it all has ended: an agent that
// relay itself runs, often. It is tried again for so long, and more and more rarely.
const (
	roomPatience = 2 * time.Minute
	firstRetry   = 50 * time.Millisecond
	slowestRetry = 5 * time.Second
)

// start starts the process, as soon as there is room for it.
func (w *Process) start(ctx context.Context) (process.Process, error) {
	pause := firstRetry
	for left := roomPatience; ; {
		p, err := w.Supervisor.Start(ctx, w.Command)
		if err == nil || left <= 0 || !process.NoRoom(err) {
			return p, err
		}
		retry := time.NewTimer(pause)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return nil, context.Cause(ctx)
		}
		left -= pause
		pause = min(2*pause, slowestRetry)
	}
}

// notStarted returns the end of a process that did not begin. A lasting fault of this machine is an
// error.
func notStarted(ctx, parent context.Context, err error) (ProcessEnd, error) {
	switch {
	case ctx.Err() != nil:
		return ProcessEnd{Cause: context.Cause(ctx), Cancelled: parent.Err() != nil}, nil //nolint:nilerr // the end tells of it
	case errors.Is(err, process.ErrLost):
		return ProcessEnd{Exit: process.Exit{Code: -1, Lost: true}}, nil
	}
	return ProcessEnd{}, err
}

// CannotStart reports whether err means that the agent's program is not there, and not a fault of this machine: a
// working directory, prompt or folder for the output that is missing looks the same to the system.
func (w *Process) CannotStart(err error) bool {
	if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return false
	}
	for _, ours := range []string{w.Command.Dir, w.Command.Stdin, filepath.Dir(w.Command.Stdout), filepath.Dir(w.Command.Stderr)} {
		if _, err := os.Stat(ours); ours != "" && err != nil {
			return false
		}
	}
	return true
}

// Package hostprogram runs the command line program of a host for repositories, such as gh.
package hostprogram

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"relay/orchestrator/text"
)

// limit bounds one call.
const limit = 2 * time.Minute

var errLimit = errors.New("took too long")

// Error is what a program said when it failed.
type Error struct {
	Err  error
	Said string
}

// Error returns how the program ended, and what it printed.
func (e *Error) Error() string { return e.Err.Error() + ": " + text.Line(e.Said, 500) }

// Unwrap returns how it ended.
func (e *Error) Unwrap() error { return e.Err }

// Run starts a program in a folder, with an environment in which it asks no questions, and returns what it printed. The error wraps
// exec.ErrNotFound where there is no such program, and an Error where it failed with a word about it.
func Run(ctx context.Context, folder string, environ []string, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = folder
	cmd.Env = append(append([]string{}, environ...), "GH_PROMPT_DISABLED=1", "NO_PROMPT=1", "NO_COLOR=1")
	cmd.WaitDelay = time.Second
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if output := strings.TrimSpace(complaint.String()); err != nil && output != "" {
		err = &Error{err, output}
	}
	return out.String(), err
}

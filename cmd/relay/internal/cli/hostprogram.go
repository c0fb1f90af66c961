package cli

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"relay/epic/plaintext"
)

// limit bounds one call.
const limit = 2 * time.Minute

var errLimit = errors.New("took too long")

// HostError is what a program said when it failed.
type HostError struct {
	Err  error
	Said string
}

// Error returns how the program ended, and what it printed.
func (e *HostError) Error() string { return e.Err.Error() + ": " + plaintext.Fit(e.Said, 500) }

// Unwrap returns how it ended.
func (e *HostError) Unwrap() error { return e.Err }

// RunHost starts a program in a folder, with an environment in which it asks no questions, and returns what it printed. The error wraps
// exec.ErrNotFound where there is no such program, and an Error where it failed with a word about it.
func RunHost(ctx context.Context, folder string, environ []string, name string, args ...string) (string, error) {
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
		err = &HostError{err, output}
	}
	return out.String(), err
}

// Feed gives a program of the user's input, and returns the beginning of what it printed. When ctx ends, it kills the program with what
// that has started; it waits for nothing that outlives the program.
func Feed(ctx context.Context, environ, argv []string, input []byte) (printed string, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var text strings.Builder
	out := plaintext.Limited{To: &text, Left: 64 << 10, TooMuch: errors.New("it prints too much")}
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environ, bytes.NewReader(input), &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel, cmd.WaitDelay = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }, time.Second
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil { // a process that it left behind has its output
		err = nil
	}
	return text.String(), err
}

// OpenBrowser opens an address in the user's browser, and does not wait for that.
func OpenBrowser(address string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	cmd := exec.Command(program, address)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the browser tells its user
	return nil
}

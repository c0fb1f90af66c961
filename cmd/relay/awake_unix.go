//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"relay/orchestrator/secrets"
)

// No machine falls asleep in the first second, and a run that is over by then asks nobody: asking costs as much as
// several small tasks. The others are how long whoever keeps the machine awake may take to end, and to say that it cannot.
const (
	askAfter = time.Second
	letGo    = time.Second
	askedIn  = 2 * time.Second
)

// inhibitor is the command that keeps this system awake for as long as what follows it runs; empty: none is known.
func inhibitor(why string) []string {
	switch runtime.GOOS {
	case "linux":
		return []string{"systemd-inhibit", "--what=idle:sleep", "--who=relay", "--why=" + why, "--mode=block"}
	case "darwin":
		return []string{"caffeinate", "-i"}
	}
	return nil
}

// stayAwake asks the system not to sleep until release is called, or relay is gone, however it ends: what is asked for
// lasts for as long as a pipe is open that only relay holds. Nobody waits for it, and where it fails the night goes on;
// relay check tells.
func (a *app) stayAwake(ctx context.Context, why string) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	var holding sync.WaitGroup
	holding.Go(func() {
		argv := inhibitor(why)
		if runtime.GOOS == "darwin" {
			argv = append(argv, "-w", strconv.Itoa(os.Getpid()))
		} else {
			argv = append(argv, "cat")
		}
		select {
		case <-ctx.Done():
		case <-time.After(askAfter):
			_ = a.hold(ctx, argv)
		}
	})
	return func() { cancel(); holding.Wait() }
}

// hold runs a command until ctx ends, away from the terminal: Ctrl-C is for relay.
func (a *app) hold(ctx context.Context, argv []string) error {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return err
	}
	end, mine, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.SysProcAttr = secrets.Without(a.environ), end, &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel, cmd.WaitDelay = mine.Close, letGo
	err = cmd.Start()
	if closing := end.Close(); err == nil {
		err = errors.Join(closing, cmd.Wait())
	}
	return errors.Join(err, mine.Close())
}

// canStayAwake asks the system for a moment, and names what it asked.
func (a *app) canStayAwake(ctx context.Context) (name string, err error) {
	argv := inhibitor("relay check")
	if len(argv) == 0 {
		return "", errors.New("relay knows no way to ask " + runtime.GOOS)
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return "", fmt.Errorf("%s is not found", argv[0])
	}
	ctx, cancel := context.WithTimeout(ctx, askedIn)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], "true")...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = secrets.Without(a.environ), &said, &said, letGo
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s did not answer", argv[0])
	case err != nil:
		return "", fmt.Errorf("%s: %s", argv[0], line(said.String(), 200))
	}
	return argv[0], nil
}

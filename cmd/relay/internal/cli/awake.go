package cli

import (
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

	"relay/epic/plaintext"
	"relay/orchestrator/secrets"
)

// askAfter is how long a run goes on before the system is asked: asking costs as much as several small tasks, and no machine falls
// asleep in the first second. letGo and askedIn are how long the program asked may take to end, and to refuse.
const (
	askAfter = time.Second
	letGo    = time.Second
	askedIn  = 2 * time.Second
)

// inhibitor returns the command that keeps this system awake for as long as what follows it runs.
func inhibitor(why string) []string {
	if runtime.GOOS == "darwin" {
		return []string{"caffeinate", "-i"}
	}
	return []string{"systemd-inhibit", "--what=idle:sleep", "--who=relay", "--why=" + why, "--mode=block"}
}

// HoldAwake asks the system not to sleep until release is called, or relay is gone, however it ends: the request lasts as long as a
// pipe is open that only relay holds. Hold returns at once, and a request that fails is not reported: Check does that.
func HoldAwake(ctx context.Context, environ []string, why string) (release func()) {
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
			_ = hold(ctx, environ, argv)
		}
	})
	return func() { cancel(); holding.Wait() }
}

// hold runs a command until ctx ends, in a session of its own, so that Ctrl-C reaches relay only.
func hold(ctx context.Context, environ, argv []string) error {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return err
	}
	end, mine, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.SysProcAttr = secrets.Without(environ), end, &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel, cmd.WaitDelay = mine.Close, letGo
	err = cmd.Start()
	if closing := end.Close(); err == nil {
		err = errors.Join(closing, cmd.Wait())
	}
	return errors.Join(err, mine.Close())
}

// CheckAwake asks the system once, and returns the name of the program that it asked. It fails when nothing can keep it awake.
func CheckAwake(ctx context.Context, environ []string) (name string, err error) {
	argv := inhibitor("relay check")
	if _, err := exec.LookPath(argv[0]); err != nil {
		return "", fmt.Errorf("%s is not found", argv[0])
	}
	ctx, cancel := context.WithTimeout(ctx, askedIn)
	defer cancel()
	switch printed, err := Feed(ctx, secrets.Without(environ), append(argv, "true"), nil); {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s did not answer", argv[0])
	case err != nil:
		return "", fmt.Errorf("%s: %s", argv[0], plaintext.MostTelling(plaintext.TellingLines(printed)))
	}
	return argv[0], nil
}

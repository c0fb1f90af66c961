package git

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// ErrNoRoom means that this machine has no room for git to run in: what was asked has no answer, least of all that
// something is wrong with the repository.
var ErrNoRoom = errors.New("no room to run git in")

// A machine that has no room for another process has some again when whoever took it all has ended. Git is tried again
// for so long, and more and more rarely.
const (
	roomPatience = time.Minute
	firstRetry   = 20 * time.Millisecond
	slowestRetry = 2 * time.Second
)

// passing reports whether there may be room in a moment.
func passing(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ENFILE)
}

// patiently does something again as long as there is no room for it.
func patiently(ctx context.Context, left time.Duration, do func() error) error {
	pause := firstRetry
	for {
		err := do()
		if left <= 0 || !passing(err) {
			return err
		}
		retry := time.NewTimer(pause)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return err
		}
		left -= pause
		pause = min(2*pause, slowestRetry)
	}
}

// crowdedOut gives the reason that a command was not started its name.
func crowdedOut(err error) error {
	if passing(err) || errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	return err
}

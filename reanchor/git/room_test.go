package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A machine that has no room for git is asked again for a while, and not all the time.
func TestGitWaitsForRoom(t *testing.T) {
	t.Parallel()
	const never = 24 * time.Hour
	for name, c := range map[string]struct {
		err    error
		room   time.Duration // from when on there is some
		cancel time.Duration
		wants  error
		least  time.Duration // it takes
		most   time.Duration
	}{
		"at once":       {},
		"in a moment":   {err: syscall.EAGAIN, room: time.Second, least: time.Second, most: 2 * time.Second},
		"in a while":    {err: syscall.ENOMEM, room: 30 * time.Second, least: 30 * time.Second, most: 30*time.Second + slowestRetry},
		"never":         {err: syscall.EAGAIN, room: never, wants: syscall.EAGAIN, least: roomPatience, most: roomPatience + slowestRetry},
		"cancelled":     {err: syscall.EAGAIN, room: never, cancel: 10 * time.Second, wants: syscall.EAGAIN, least: 10 * time.Second, most: 10 * time.Second},
		"another error": {err: exec.ErrNotFound, room: never, wants: exec.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, tries := time.Now(), 0
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				err := patiently(ctx, roomPatience, func() error {
					if tries++; time.Since(began) >= c.room {
						return nil
					}
					return &os.PathError{Op: "fork/exec", Path: "git", Err: c.err}
				})
				if !errors.Is(err, c.wants) || c.wants == nil && err != nil {
					t.Errorf("got %v, want %v", err, c.wants)
				}
				if took := time.Since(began); took < c.least || took > c.most {
					t.Errorf("it took %s, want %s to %s", took, c.least, c.most)
				}
				if tries > 50 {
					t.Errorf("it was tried %d times", tries)
				}
			})
		})
	}
}

// Want of room is told from whatever git says of a repository.
func TestWantOfRoomHasAName(t *testing.T) {
	t.Parallel()
	for _, errno := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.ENFILE, syscall.EMFILE} {
		err := gitError(t.Context(), Call{Args: []string{"status"}}, &os.PathError{Op: "fork/exec", Path: "git", Err: errno}, "")
		want := fmt.Sprintf("git status: no room to run git in: fork/exec git: %v", errno)
		if !errors.Is(err, ErrNoRoom) || !errors.Is(err, errno) || err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	_, err := Run(t.Context(), Call{Dir: t.TempDir(), Args: []string{"status"}})
	if err == nil || errors.Is(err, ErrNoRoom) {
		t.Errorf("no repository: %v", err)
	}
}

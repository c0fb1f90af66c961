package adapter

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"relay/runners"
	"relay/runners/process"
)

// crowded is a machine that has no room for a process before some time.
type crowded struct {
	actor
	until time.Time
	err   error
	tries int
}

func (c *crowded) Start(ctx context.Context, cmd process.Command) (process.Process, error) {
	if c.tries++; time.Now().Before(c.until) {
		return nil, fmt.Errorf("start sh: %w", c.err)
	}
	return c.actor.Start(ctx, cmd)
}

// A machine that has no room for another process is asked again for a while, and not all the time.
func TestStartWaitsForRoom(t *testing.T) {
	t.Parallel()
	const never = 24 * time.Hour
	for name, c := range map[string]struct {
		err    error
		room   time.Duration // from when on there is some
		cancel time.Duration
		wants  error
		lost   bool
		least  time.Duration // it takes
		most   time.Duration
	}{
		"at once":              {},
		"in a moment":          {err: syscall.EAGAIN, room: time.Second, least: time.Second, most: 2 * time.Second},
		"in a minute":          {err: syscall.ENOMEM, room: time.Minute, least: time.Minute, most: time.Minute + slowestRetry},
		"never":                {err: syscall.EAGAIN, room: never, wants: syscall.EAGAIN, least: roomPatience, most: roomPatience + slowestRetry},
		"cancelled":            {err: syscall.EAGAIN, room: never, cancel: 10 * time.Second, wants: context.Canceled, least: 10 * time.Second, most: 10 * time.Second},
		"another error":        {err: syscall.EIO, room: never, wants: syscall.EIO},
		"the guardian is lost": {err: process.ErrLost, room: never, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := &crowded{actor: actor{func(context.Context, process.Command) {}}, until: began.Add(c.room), err: c.err}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				w := Process{Supervisor: s, Command: process.Command{Stdout: t.TempDir() + "/out", Stderr: t.TempDir() + "/err"}}
				e, err := w.Run(ctx)
				if e.Cancelled {
					err = e.Cause
				}
				if !errors.Is(err, c.wants) || c.wants == nil && err != nil || e.Exit.Lost != c.lost {
					t.Errorf("got %+v, %v; want %v, lost %v", e, err, c.wants, c.lost)
				}
				if took := time.Since(began); took < c.least || took > c.most {
					t.Errorf("it took %s, want %s to %s", took, c.least, c.most)
				}
				if s.tries > 50 {
					t.Errorf("it was tried %d times", s.tries)
				}
			})
		})
	}
}

func TestDescribeExit(t *testing.T) {
	t.Parallel()
	for want, exit := range map[string]process.Exit{
		"exit status 0":        {},
		"exit status 3":        {Code: 3},
		"ended by signal SEGV": {Code: -1, Signal: "SEGV"},
		"ended by a signal":    {Code: -1},
		"killed by signal KILL, as the system does when memory runs out":                                      {Code: -1, Signal: "KILL"},
		"exit status 137: something in it was killed by signal KILL, as the system does when memory runs out": {Code: 137},
		"exit status 139: something in it crashed with signal SEGV":                                           {Code: 139},
	} {
		if got := runners.DescribeExit(exit); got != want {
			t.Errorf("%+v: got %q, want %q", exit, got, want)
		}
	}
}

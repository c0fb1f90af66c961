package adapter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"relay/runners"
	"relay/runners/process"
)

// actor is a process without a process: it does its part on the clock of the test, and ends when it is stopped.
type actor struct {
	play func(ctx context.Context, cmd process.Command)
}

func (a actor) Start(ctx context.Context, cmd process.Command) (process.Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p := playing{done: make(chan process.Exit, 1)}
	go func() {
		a.play(ctx, cmd)
		p.done <- process.Exit{Stopped: ctx.Err() != nil}
	}()
	return p, nil
}

type playing struct{ done chan process.Exit }

func (p playing) Wait() process.Exit { return <-p.done }
func (p playing) Stop()              {}

func write(cmd process.Command, text string) {
	f, err := os.OpenFile(cmd.Stdout, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

// pause returns early when the process is stopped.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// TestLimits drives the limits on a clock of its own: hours pass in no time, and each limit is held to the millisecond.
func TestLimits(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	silent := func(ctx context.Context, _ process.Command) { pause(ctx, 100*hour) }
	for _, c := range []struct {
		name   string
		limits runners.Limits
		play   func(ctx context.Context, cmd process.Command)
		state  func(lines int) ProcessState
		cause  error
		detail string
		took   time.Duration
	}{
		{name: "ends by itself", play: func(ctx context.Context, _ process.Command) { pause(ctx, hour) }, took: hour},
		{name: "wall", limits: runners.Limits{Wall: hour}, play: silent, cause: ErrWall, detail: "time limit passed: 1h0m0s", took: hour},
		{name: "silence", limits: runners.Limits{Wall: 9 * hour, Silence: 20 * time.Minute}, play: silent, cause: ErrSilence, detail: "no output for too long: 20m0s", took: 20 * time.Minute},
		{
			name: "a line every 19 minutes is no silence", limits: runners.Limits{Wall: 9 * hour, Silence: 20 * time.Minute},
			play: func(ctx context.Context, cmd process.Command) {
				for ctx.Err() == nil {
					write(cmd, "still here\n")
					pause(ctx, 19*time.Minute)
				}
			},
			cause: ErrWall, detail: "time limit passed: 9h0m0s", took: 9 * hour,
		},
		{
			name: "the model never answers", limits: runners.Limits{Wall: hour, FirstAnswer: 5 * time.Minute},
			play: func(ctx context.Context, cmd process.Command) {
				for ctx.Err() == nil {
					write(cmd, "asking again\n")
					pause(ctx, time.Minute)
				}
			},
			state: func(int) ProcessState { return AwaitingAnswer },
			cause: ErrNoAnswer, detail: "no answer from the model: 5m0s", took: 5 * time.Minute,
		},
		{
			name: "lingers", limits: runners.Limits{Silence: hour, Linger: 30 * time.Second},
			play: func(ctx context.Context, cmd process.Command) {
				write(cmd, "result\n")
				pause(ctx, hour)
			},
			state: func(lines int) ProcessState { return ProcessState(min(lines, 1)) },
			cause: ErrLinger, took: 30 * time.Second,
		},
		{
			name: "goes on after a result", limits: runners.Limits{Linger: 30 * time.Second},
			play: func(ctx context.Context, cmd process.Command) {
				write(cmd, "result\n")
				pause(ctx, 20*time.Second)
				write(cmd, "work\n")
				pause(ctx, hour)
			},
			state: func(lines int) ProcessState { return ProcessState(lines % 2) }, took: hour + 20*time.Second,
		},
		{
			name: "is hopeless",
			play: func(ctx context.Context, cmd process.Command) {
				write(cmd, "401\n")
				pause(ctx, hour)
			},
			state: func(lines int) ProcessState { return ProcessState(min(lines, 1)) * Hopeless },
			cause: ErrHopeless, took: 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				lines := 0
				w := Process{
					Supervisor: actor{c.play}, Limits: c.limits, ReadLine: func([]byte) { lines++ },
					Command: process.Command{Stdout: filepath.Join(dir, "out"), Stderr: filepath.Join(dir, "err")},
				}
				if c.state != nil {
					w.State = func() ProcessState { return c.state(lines) }
				}
				began := time.Now()
				e, err := w.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if !errors.Is(e.Cause, c.cause) || c.cause == nil && e.Cause != nil {
					t.Errorf("got cause %v, want %v", e.Cause, c.cause)
				}
				if _, detail, _ := e.Stopped(false); detail != c.detail {
					t.Errorf("got %q, want %q", detail, c.detail)
				}
				late := time.Since(began) - c.took
				if late < 0 || late > slowestPoll {
					t.Errorf("took %s, want %s", time.Since(began), c.took)
				}
			})
		})
	}
}

// TestFloodIsStopped fails when nothing bounds what an agent can write to the disk.
func TestFloodIsStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := Process{
		Limits:  runners.Limits{TranscriptCap: 1 << 10},
		Command: process.Command{Stdout: filepath.Join(dir, "out"), Stderr: filepath.Join(dir, "err")},
		Supervisor: actor{func(ctx context.Context, cmd process.Command) {
			for ctx.Err() == nil {
				write(cmd, "0123456789abcdef0123456789abcdef")
			}
		}},
	}
	e, err := w.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if o, detail, _ := e.Stopped(false); !errors.Is(e.Cause, ErrFlood) || o != runners.Failed || detail != "wrote too much output: more than 0 MiB" {
		t.Errorf("got cause %v, outcome %q, %q", e.Cause, o, detail)
	}
}

// What an agent was stopped for is said in words, unless its output decides.
func TestStoppedInWords(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]ProcessEnd{
		"the process that watched the agent died; how the agent ended is unknown": {Exit: process.Exit{Lost: true}},
		"stopped: the relay that ran it was ended":                                {Cause: errOrphaned},
		"stopped: deadline of the run":                                            {Cause: errors.New("deadline of the run"), Cancelled: true},
		"wrote too much output: more than 2048 MiB":                               {Cause: fmt.Errorf("%w: more than %d MiB", ErrFlood, 2048)},
		"": {Cause: ErrLinger},
	} {
		if _, got, _ := e.Stopped(false); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestStoppedBeforeItBegan(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("deadline of the run")
	cancel(why)
	w := Process{Supervisor: actor{func(context.Context, process.Command) {}}}
	e, err := w.Run(ctx)
	if err != nil || !e.Cancelled || !errors.Is(e.Cause, why) {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	var got []string
	tl := Tail{Path: path, Line: func(l []byte) { got = append(got, string(l)) }}
	defer tl.Close()
	step := func(text string) {
		t.Helper()
		write(process.Command{Stdout: path}, text)
		if _, err := tl.Read(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tl.Read(); err != nil {
		t.Fatalf("a file that is not there yet: %v", err)
	}
	step("one\ntw")
	step("o, which is longer than the buffer\n\nfour")
	long := make([]byte, maxLine+1)
	step(string(long))
	step("\nfive\nsix without an end")
	if err := tl.Finish(); err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "two, which is longer than the buffer", "", "five", "six without an end"}
	if len(got) != len(want) {
		t.Fatalf("got %d lines %.60q, want %q", len(got), got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

// ended is a process that has ended before anybody looks.
type ended process.Exit

func (e ended) Start(context.Context, process.Command) (process.Process, error) { return e, nil }
func (e ended) Wait() process.Exit                                              { return process.Exit(e) }
func (ended) Stop()                                                             {}

// A machine that goes down sends TERM to agent and relay at once: an agent that ends first has not failed.
func TestTermOfAll(t *testing.T) {
	t.Parallel()
	for _, exit := range []process.Exit{{Code: -1, Signal: "TERM"}, {Code: 143}, {Code: -1, Signal: "KILL"}, {Code: 1}} {
		for _, down := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if down {
					defer time.AfterFunc(aMoment/2, cancel).Stop()
				}
				w := Process{Supervisor: ended(exit), Command: process.Command{Stdout: filepath.Join(t.TempDir(), "out")}}
				e, err := w.Run(ctx)
				if want := down && exit.Signal != "KILL" && exit.Code != 1; err != nil || e.Cancelled != want {
					t.Errorf("%+v, relay told too %v: got %+v, %v", exit, down, e, err)
				}
			})
		}
	}
}

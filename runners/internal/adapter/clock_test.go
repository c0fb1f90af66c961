package adapter

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"relay/runners"
	"relay/runners/process"
)

// A clock that jumps while an agent works, because the machine slept or somebody set it, ends no attempt, and puts no
// limit off: they count the time that relay was there.
func TestLimitsCountNoSleep(t *testing.T) {
	t.Parallel()
	const night, years = 8 * time.Hour, 10 * 365 * 24 * time.Hour
	all := runners.Limits{Wall: time.Hour, Silence: 20 * time.Minute, Linger: 30 * time.Second}
	works := func(ctx context.Context, cmd process.Command) {
		for range 3 {
			pause(ctx, 19*time.Minute)
			write(cmd, "still here\n")
		}
	}
	silent := func(ctx context.Context, _ process.Command) { pause(ctx, 100*time.Hour) }
	talks := func(ctx context.Context, cmd process.Command) {
		for ctx.Err() == nil {
			write(cmd, "still here\n")
			pause(ctx, time.Minute)
		}
	}
	result := func(ctx context.Context, cmd process.Command) {
		write(cmd, "result\n")
		pause(ctx, time.Hour)
	}
	for name, c := range map[string]struct {
		play  func(ctx context.Context, cmd process.Command)
		jumps []time.Duration // one every seven seconds, from the tenth second on
		cause error
		took  time.Duration
	}{
		"works":                {play: works, jumps: []time.Duration{night}, took: 57 * time.Minute},
		"works, many naps":     {play: works, jumps: []time.Duration{night, time.Hour, 2 * time.Minute, night, night}, took: 57 * time.Minute},
		"works, clock back":    {play: works, jumps: []time.Duration{-years}, took: 57 * time.Minute},
		"works, to and fro":    {play: works, jumps: []time.Duration{years, -2 * years}, took: 57 * time.Minute},
		"silent":               {play: silent, jumps: []time.Duration{night, night}, cause: ErrSilence, took: 20 * time.Minute},
		"silent, clock back":   {play: silent, jumps: []time.Duration{-years}, cause: ErrSilence, took: 20 * time.Minute},
		"goes on":              {play: talks, jumps: []time.Duration{night}, cause: ErrWall, took: time.Hour},
		"goes on, clock back":  {play: talks, jumps: []time.Duration{-night}, cause: ErrWall, took: time.Hour},
		"lingers":              {play: result, jumps: []time.Duration{night, night}, cause: ErrLinger, took: 30 * time.Second},
		"lingers, clock back":  {play: result, jumps: []time.Duration{-years}, cause: ErrLinger, took: 30 * time.Second},
		"silent, no jump":      {play: silent, cause: ErrSilence, took: 20 * time.Minute},
		"goes on, no jump":     {play: talks, cause: ErrWall, took: time.Hour},
		"lingers, no jump":     {play: result, cause: ErrLinger, took: 30 * time.Second},
		"works, and that long": {play: works, took: 57 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				began, lines := time.Now(), 0
				w := Process{
					Supervisor: actor{c.play}, Limits: all, ReadLine: func(line []byte) {
						if string(line) == "result" {
							lines++
						}
					},
					State:   func() ProcessState { return ProcessState(min(lines, 1)) },
					Command: process.Command{Stdout: filepath.Join(dir, "out"), Stderr: filepath.Join(dir, "err")},
					now: func() time.Time {
						now := time.Now()
						for i, by := range c.jumps {
							if time.Since(began) >= 10*time.Second+time.Duration(i)*7*time.Second {
								now = now.Add(by)
							}
						}
						return now
					},
				}
				e, err := w.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if !errors.Is(e.Cause, c.cause) || c.cause == nil && e.Cause != nil {
					t.Errorf("got cause %v, want %v", e.Cause, c.cause)
				}
				// Each jump hides a look, and with it the pause before.
				most := time.Duration(1+len(c.jumps)) * slowestPoll
				if late := time.Since(began) - c.took; late < 0 || late > most {
					t.Errorf("took %s, want %s", time.Since(began), c.took)
				}
			})
		})
	}
}

package opencode_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/opencode"
	"relay/runners/process"
	"relay/runners/runnertest"
)

// newOpencode makes the runner; options that it refuses are a mistake of the test.
func newOpencode(sup process.Supervisor, o opencode.Options) *opencode.Runner {
	r, err := opencode.New(sup, o)
	if err != nil {
		panic(err)
	}
	return r.(*opencode.Runner)
}

func capturedOpencode() runnertest.Captured {
	return runnertest.Captured{Dir: "testdata/captured", Make: func(sup process.Supervisor) runners.Runner {
		return newOpencode(sup, opencode.Options{
			Now: func() time.Time { return time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC) },
		})
	}}
}

// TestCapturedOpencode holds the outcome of every captured run of opencode.
func TestCapturedOpencode(t *testing.T) {
	t.Parallel()
	capturedOpencode().Hold(t, *update)
}

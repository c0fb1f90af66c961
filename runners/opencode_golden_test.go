package runners_test

import (
	"testing"
	"time"

	"relay/runners"
	"relay/runners/process"
)

// newOpencode makes the runner; options that it refuses are a mistake of the test.
func newOpencode(sup process.Supervisor, o runners.OpencodeOptions) *runners.Opencode {
	r, err := runners.NewOpencode(sup, o)
	if err != nil {
		panic(err)
	}
	return r
}

func capturedOpencode() library {
	return library{"testdata/opencode", func(sup process.Supervisor) runners.Runner {
		return newOpencode(sup, runners.OpencodeOptions{
			Now: func() time.Time { return time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC) },
		})
	}}
}

// TestCapturedOpencode holds the outcome of every captured run of opencode.
func TestCapturedOpencode(t *testing.T) {
	t.Parallel()
	capturedOpencode().hold(t)
}

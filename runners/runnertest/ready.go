package runnertest

import (
	"context"
	"path/filepath"

	"relay/runners/process"
)

// ReadyFile is what a fake agent makes in its folder once it has said and done what it does before it hangs.
const ReadyFile = "ready"

// WhenReady is a [process.Supervisor] that hands a process out once that has made [ReadyFile], or has ended. The limits
// that it is held to count from then on: how long it takes to get there is the machine's affair.
type WhenReady struct{ process.Supervisor }

// Start implements [process.Supervisor].
func (w WhenReady) Start(ctx context.Context, cmd process.Command) (process.Process, error) {
	p, err := w.Supervisor.Start(ctx, cmd)
	if err != nil {
		return nil, err
	}
	running, ended := context.WithCancel(ctx)
	go func() {
		p.Wait()
		ended()
	}()
	waitFor(running, filepath.Join(cmd.Dir, ReadyFile))
	return p, nil
}

package orchestrator

import (
	"context"
	"time"

	"relay/attempts"
)

// tip returns the commit that the work is collected on, for the record: "" if git does not say.
func (r *run) tip(ctx context.Context) string {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tipWall)
	defer stop()
	tip, err := r.state.engine.Lifecycle.Tip(ctx)
	if err != nil {
		return ""
	}
	return tip
}

// setRemote records the address of the remote that the branch has on which the work is collected, and the name of that branch when it
// is the user's.
func (r *run) setRemote(ctx context.Context, started *attempts.RunStarted) {
	if r.state.o.Remote == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tipWall)
	defer stop()
	branch, address := r.state.o.Remote(ctx, started.Integration)
	if started.Integration == "" {
		started.Branch = branch
	}
	started.Remote = r.state.Redact.Text(address)
}

// tipWall bounds how long git is asked for that: it is asked at all only where a ref cannot be read from its file.
const tipWall = 10 * time.Second

package orchestrator

import (
	"context"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// tip returns the commit that the work is collected on, for the record: "" if git does not say.
func tip(ctx context.Context, of engine.Lifecycle) string {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tipWall)
	defer stop()
	tip, err := of.Tip(ctx)
	if err != nil {
		return ""
	}
	return tip
}

// setRemote records the address of the remote that the branch has on which the work is collected, and the name of that branch when it
// is the user's.
func setRemote(ctx context.Context, s *state, started *attempts.RunStarted) {
	if s.o.Remote == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tipWall)
	defer stop()
	branch, address := s.o.Remote(ctx, started.Integration)
	if started.Integration == "" {
		started.Branch = branch
	}
	started.Remote = s.Redact.Text(address)
}

// tipWall bounds how long git is asked for that: it is asked at all only where a ref cannot be read from its file.
const tipWall = 10 * time.Second

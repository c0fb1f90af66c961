package orchestrator

import (
	"context"
	"time"
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

// tipWall bounds how long git is asked for that: it is asked at all only where a ref cannot be read from its file.
const tipWall = 10 * time.Second

package orchestrator

import (
	"context"

	"relay/reanchor"
)

// Unsuited says why tasks cannot work in worktrees of a repository: a [*RefusedError], or nil when they can.
func Unsuited(ctx context.Context, repo *reanchor.Git) error { return unsuited(ctx, repo) }

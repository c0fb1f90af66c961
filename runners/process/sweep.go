package process

import (
	"context"
	"time"
)

// recordLimit is how long a sweep waits for the guardian of what it has ended to write down how that ended.
const recordLimit = 3 * time.Second

// Sweep ends every process of this machine that carries a mark for which match is true, with everything below it: the
// stop signal TERM, KILL after grace, again until nothing new turns up. It returns how many it ended. This process, its
// guardians and its ancestors are left alone, and so is what belongs to another user.
//
// A process that has overwritten its own environment is not found; what it did to its parent's does not matter.
func Sweep(ctx context.Context, match func(mark string) bool, grace time.Duration) (ended int, err error) {
	ended = theProcTable().sweep(match, grace, recordLimit, ctx.Done())
	return ended, context.Cause(ctx)
}

package git

import (
	"context"
	"errors"
	"time"
)

// gitLimit bounds relay's own git work between two things it waits for.
const gitLimit = 10 * time.Minute

// Uninterrupted returns a context for relay's own git work: the run may be stopping, and what an agent left must be kept all the same.
func Uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), gitLimit, errors.New("git took too long"))
}

// Refused reports whether git could be asked and had a reason not to do what it should.
func Refused(ctx context.Context, err error) bool {
	return ExitCode(err) > 0 && Unasked(err) == nil && ctx.Err() == nil
}

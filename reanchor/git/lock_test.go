package git_test

import (
	"context"
	"errors"
	"testing"

	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

func TestLockRepositoryInterrupted(t *testing.T) {
	t.Parallel()
	l := repotest.New(t)
	release := repotest.Want[func() error](t)(git.LockRepository(t.Context(), l.Open()))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, err := git.LockRepository(ctx, l.Open()); err == nil || err.Error() != "wait for the lock of the repository: interrupted" {
		t.Errorf("got %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

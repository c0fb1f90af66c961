package gitcmd

import (
	"context"
	"errors"
	"testing"

	"relay/orchestrator/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

func TestLockRepositoryInterrupted(t *testing.T) {
	t.Parallel()
	l := repotest.New(t)
	release := repotest.Want[func() error](t)(LockRepository(t.Context(), l.Open()))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, err := LockRepository(ctx, l.Open()); err == nil || err.Error() != "wait for the lock of the repository: interrupted" {
		t.Errorf("got %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

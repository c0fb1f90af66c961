package git

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"relay/attempts"
)

// LockRepository keeps other relays from changing the repository's worktrees and shared refs at the same moment: git's
// own locks do not keep two git worktree add apart. It waits for its turn, but not for ever. Who has it must not ask for
// it again, as Keep of package worktree does.
func LockRepository(ctx context.Context, repo *Repo) (release func() error, err error) {
	path := filepath.Join(repo.CommonDir(), RepositoryLock)
	held, err := attempts.HoldWithin(ctx, LockPatience, path, attempts.Self("", time.Now()))
	if err != nil {
		return nil, fmt.Errorf("wait for the lock of the repository: %w", err)
	}
	return held.Release, nil
}

// RepositoryLock is in the git folder that all worktrees of a repository share.
const RepositoryLock = "relay-repository.lock"

// LockPatience is how long one waits for it. A worktree of a large repository takes git a while.
const LockPatience = 5 * time.Minute

// EpicLock returns the file that a run of an epic locks in the git folder that all worktrees share: the names of
// branches and refs that have the epic's id in them are one for all.
func EpicLock(repo *Repo, epicID string) string {
	return filepath.Join(repo.CommonDir(), "relay-epic-"+epicID+".lock")
}

package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relay/epic/each"
)

// Writing returns a git command that may write. It runs without the repository's hooks and without asking for a
// signature: an agent may have put hooks there, and no person is awake to type.
func Writing(args ...string) Call {
	return Call{Writes: true, Limit: MaxPrinted, Env: []string{"GIT_LITERAL_PATHSPECS=1", "GIT_EDITOR=true"}, Args: append([]string{
		"-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "core.safecrlf=false",
		"-c", "advice.detachedHead=false", "-c", "advice.addEmbeddedRepo=false",
		"-c", refWait, "-c", packedWait, // somebody else's git is at work beside us
	}, args...)}
}

// MaxPrinted bounds what is held of a list of paths.
const MaxPrinted = 64 << 20

// Nameless returns the settings with which relay commits where git has no name and address.
func Nameless() []string {
	return []string{"-c", "user.name=relay", "-c", "user.email=relay@localhost"}
}

// Identity returns the settings with which relay commits in a repository: none where git knows a name and an address.
func Identity(ctx context.Context, repo *Repo) []string {
	if _, err := repo.Run(ctx, Writing("var", "GIT_COMMITTER_IDENT")); err == nil {
		return nil
	}
	return Nameless()
}

// CheckedOut returns the worktree of a repository that has a branch checked out, given by its full name; "": none. rebased reports
// whether a rebase or a bisection that has not come to its end began on the branch; then the worktree may be "".
func CheckedOut(ctx context.Context, repo *Repo, branch string) (where string, rebased bool, err error) {
	at, err := repo.Run(ctx, Call{Args: []string{"for-each-ref", "--format=%(worktreepath)", branch}})
	return strings.TrimSpace(string(at)), inRebase(repo.CommonDir(), branch), err
}

func inRebase(shared, branch string) bool {
	dirs := []string{shared}
	entries, _ := os.ReadDir(filepath.Join(shared, "worktrees")) // there may be none
	dirs = append(dirs, each.Of(entries, func(e os.DirEntry) string { return filepath.Join(shared, "worktrees", e.Name()) })...)
	for _, dir := range dirs {
		for _, text := range Contents(dir, []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"}) {
			if began := strings.TrimSpace(text); began == branch || "refs/heads/"+began == branch {
				return true
			}
		}
	}
	return false
}

// How long git waits for the lock of a ref, and of all packed ones, in milliseconds; and the age
// from which no living process can hold one.
const (
	refWait    = "core.filesRefLockTimeout=3000"
	packedWait = "core.packedRefsTimeout=10000"
	deadRef    = 3 * time.Second
	deadPacked = 20 * time.Second
)

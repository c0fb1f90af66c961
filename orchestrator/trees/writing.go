package trees

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"relay/reanchor"
)

// Writing is a git command that may write. It runs without the repository's hooks and without asking for a signature:
// an agent may have put hooks there, and nobody is awake to type.
func Writing(args ...string) reanchor.Call {
	return reanchor.Call{Writes: true, Limit: MaxPrinted, Env: []string{"GIT_LITERAL_PATHSPECS=1", "GIT_EDITOR=true"}, Args: append([]string{
		"-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "core.safecrlf=false", "-c", "advice.detachedHead=false", "-c", "advice.addEmbeddedRepo=false",
		"-c", refWait, "-c", packedWait, // somebody else's git is at work beside us
	}, args...)}
}

// MaxPrinted bounds what is held of a list of paths.
const MaxPrinted = 64 << 20

// Nameless are the settings with which relay commits where nobody has told git a name.
func Nameless() []string {
	return []string{"-c", "user.name=relay", "-c", "user.email=relay@localhost"}
}

// How long git waits for the lock of a ref, and of all packed ones, in milliseconds; and how old one is that nobody
// who lives can hold.
const (
	refWait    = "core.filesRefLockTimeout=3000"
	packedWait = "core.packedRefsTimeout=10000"
	deadRef    = 3 * time.Second
	deadPacked = 20 * time.Second
)

// lockOf is the file with which git locks a ref, or another file that all worktrees share.
func lockOf(repo *reanchor.Git, name string) string {
	return filepath.Join(repo.CommonDir(), filepath.FromSlash(name)+".lock")
}

// Unlatch removes the locks of refs, and of all packed ones, that a git that was killed has left; somebody at work holds
// younger ones.
func Unlatch(repo *reanchor.Git, refs ...string) error {
	for _, name := range append(refs, packedRefs) {
		path := lockOf(repo, name)
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if age := time.Since(info.ModTime()); age < deadRef || name == packedRefs && age < deadPacked {
			continue
		}
		if err := RemoveTree(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

const packedRefs = "packed-refs"

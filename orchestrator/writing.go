package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"relay/reanchor"
)

// writing is a git command that may write. It runs without the repository's hooks and without asking for a signature:
// an agent may have put hooks there, and nobody is awake to type.
func writing(args ...string) reanchor.Call {
	return reanchor.Call{Writes: true, Limit: maxPrinted, Env: []string{"GIT_LITERAL_PATHSPECS=1", "GIT_EDITOR=true"}, Args: append([]string{
		"-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "core.safecrlf=false", "-c", "advice.detachedHead=false", "-c", "advice.addEmbeddedRepo=false",
		"-c", refWait, "-c", packedWait, // somebody else's git is at work beside us
	}, args...)}
}

// maxPrinted bounds what is held of a list of paths.
const maxPrinted = 64 << 20

// nameless are the settings with which relay commits where nobody has told git a name.
func nameless() []string {
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

// unlatch removes the locks of refs that a git that was killed has left. Call it when git could not change them.
func unlatch(repo *reanchor.Git, refs ...string) error {
	for _, name := range append(refs, packedRefs) {
		path := filepath.Join(repo.CommonDir(), filepath.FromSlash(name)+".lock")
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if age := time.Since(info.ModTime()); age < deadRef || name == packedRefs && age < deadPacked {
			continue
		}
		if err := removeTree(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

const packedRefs = "packed-refs"

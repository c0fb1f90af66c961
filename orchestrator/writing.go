package orchestrator

import "relay/reanchor"

// writing is a git command that may write. It runs without the repository's hooks and without asking for a signature:
// an agent may have put hooks there, and nobody is awake to type.
func writing(args ...string) reanchor.Call {
	return reanchor.Call{Writes: true, Limit: maxPrinted, Env: []string{"GIT_LITERAL_PATHSPECS=1", "GIT_EDITOR=true"}, Args: append([]string{
		"-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "core.safecrlf=false", "-c", "advice.detachedHead=false", "-c", "advice.addEmbeddedRepo=false",
		"-c", "core.filesRefLockTimeout=3000", "-c", "core.packedRefsTimeout=10000", // somebody else's git is at work beside us
	}, args...)}
}

// maxPrinted bounds what is held of a list of paths.
const maxPrinted = 64 << 20

// nameless are the settings with which relay commits where nobody has told git a name.
func nameless() []string {
	return []string{"-c", "user.name=relay", "-c", "user.email=relay@localhost"}
}

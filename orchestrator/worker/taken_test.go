package worker

import (
	"testing"
)

// No person has taken a commit that only relay's branches have, here or on a remote.
func TestTaken(t *testing.T) {
	t.Parallel()
	for branch, mine := range map[string]bool{
		"refs/heads/relay/20260101-lab": false, "refs/heads/relay-tasks/20260101-lab/T1": false,
		"refs/remotes/origin/relay/20260101-lab": false, "refs/remotes/origin/relay-tasks/20260101-lab/T1": false,
		"refs/heads/mine": true, "refs/remotes/origin/mine": true,
	} {
		l := newLab(t, "true")
		base := l.Git("rev-parse", "HEAD")
		l.Git("checkout", "-q", "--detach")
		l.Git("commit", "-q", "--allow-empty", "-m", "Work")
		head := l.Git("rev-parse", "HEAD")
		l.Git("update-ref", branch, head)
		want := map[bool]string{true: head, false: base}[mine]
		for _, on := range []string{"", "relay/20260101-lab", "relay-tasks/20260101-lab/T1"} {
			if got := taken(t.Context(), l.c.run.home, on, head); got != want {
				t.Errorf("%s, on %q: got %s, want %s", branch, on, got, want)
			}
		}
	}
}

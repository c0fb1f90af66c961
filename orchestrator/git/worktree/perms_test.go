package worktree

import (
	"os"
	"testing"
)

// What stands in folders that an attempt has protected is committed as all else; those of the user's stay protected.
func TestLeftoversInProtectedFolders(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("nothing is protected against root")
	}
	l := newTreeLab(t)
	l.Sh(`mkdir -p own/deep; echo secret > own/deep/f; chmod 000 own/deep; chmod 0300 own`)
	t.Cleanup(func() { l.Sh(`chmod 700 own; chmod 700 own/deep`) })
	l.begin()
	l.Sh(`mkdir -p priv/deep; echo x > priv/deep/f; chmod 000 priv/deep priv; mkdir keep; echo x > keep/f; chmod 0300 keep; echo b > tests/a.txt; chmod 0600 tests`)
	head := l.leftovers()
	if got := l.Git("diff", "--name-only", "main~1", head, "--", "priv", "keep", "own", "tests/a.txt"); got != "keep/f\npriv/deep/f\ntests/a.txt" {
		t.Errorf("kept is %q", got)
	}
	if info, err := os.Stat(l.Path("own")); err != nil || info.Mode().Perm() != 0o300 {
		t.Errorf("the user's folder: %v, %v", info, err)
	}
}

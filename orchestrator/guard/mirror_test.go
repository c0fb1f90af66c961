package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A copy that is made again has what there is by then, and nothing that has gone.
func TestVaultIsRenewed(t *testing.T) {
	t.Parallel()
	l := newBackupLab(t)
	l.Sh(`git branch old; git branch packed; git branch gone; git branch folder; git branch -f linked; ln -s old .git/refs/heads/link; git symbolic-ref refs/heads/sym refs/heads/old
		find .git -type f -exec touch -d '1 minute ago' {} +; git branch young`)
	v := newVault(l)
	l.Sh(`git commit -q --allow-empty -m More; git branch -f linked HEAD; git branch -f young HEAD; git branch -D -q gone folder; git branch folder/below; git pack-refs --no-all --all
		git branch -f linked HEAD~1; rm .git/refs/heads/link; ln -s sym .git/refs/heads/link`)
	if err := v.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(v.Store, "refs", "heads", "old")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a packed ref would come back: %v", err)
	}
	if got, err := os.Readlink(filepath.Join(v.Store, "refs", "heads", "link")); err != nil || got != "sym" {
		t.Errorf("the link leads to %q, %v", got, err)
	}
	list := func(dir string) string {
		return l.Sh(`git --git-dir="` + dir + `" for-each-ref; cat "` + dir + `/HEAD"`)
	}
	if got, want := list(v.Store), list(".git"); got != want {
		t.Errorf("the copy has\n%s\nwant\n%s", got, want)
	}
}

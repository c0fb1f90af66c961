package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What has not changed is not copied again; what has is, however soon and whatever its length.
func TestVaultIsRenewed(t *testing.T) {
	t.Parallel()
	l := newBackupLab(t)
	l.Sh(`git branch old; git branch packed; git branch gone; git branch folder; git branch -f linked; ln -s old .git/refs/heads/link; git symbolic-ref refs/heads/sym refs/heads/old
		find .git -type f -exec touch -d '1 minute ago' {} +; git branch young`)
	v := newVault(l)
	log := filepath.Join(v.Store, "logs", "refs", "heads", "old") // a mark in it, of the same length and time
	l.Sh(`f="` + log + `"; touch -r "$f" time; tr 'a-z' 'A-Z' < "$f" > other; cat other > "$f"; touch -r time "$f"`)
	mark, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	l.Sh(`git commit -q --allow-empty -m More; git branch -f linked HEAD; git branch -f young HEAD; git branch -D -q gone folder; git branch folder/below; git pack-refs --no-all --all
		git branch -f linked HEAD~1; rm .git/refs/heads/link; ln -s sym .git/refs/heads/link`)
	if err := v.Save(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(log); err != nil || !bytes.Equal(got, mark) {
		t.Errorf("what has not changed was copied again: %q, %v", got, err)
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

// A file that changes twice in one tick of the file system's clock, and keeps its length. The tick is one to come: it is
// not over however long this takes.
func TestVaultSeesQuickChanges(t *testing.T) {
	t.Parallel()
	l := newBackupLab(t)
	at := time.Now().Add(time.Hour)
	for n := range 20 {
		l.Write(".git/refs/note", fmt.Sprint(n%10))
		if err := os.Chtimes(l.Path(".git/refs/note"), at, at); err != nil {
			t.Fatal(err)
		}
		v := &Backup{GitDir: l.Path(".git"), Store: filepath.Join(l.Root, "..", "copy"), Aside: l.Path("aside")}
		if err := v.Save(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(v.Store, "refs", "note")); err != nil || strings.TrimSpace(string(got)) != fmt.Sprint(n%10) {
			t.Fatalf("round %d: the copy has %q, %v", n, got, err)
		}
	}
}

package trees

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/repotest"
	"relay/orchestrator/text"
)

func TestWordsForTrees(t *testing.T) {
	t.Parallel()
	l := newPlain(t)
	empty := &repotest.Repo{T: t, Root: filepath.Join(t.TempDir(), "empty")}
	empty.Write("x", "")
	empty.Git("init", "-q")
	err := Unsuited(t.Context(), empty.Open())
	if want := (text.RefusedError{Reason: "this repository has no commit yet, from which tasks could begin", Hint: "git add -A && git commit --allow-empty -m Begin, then relay work"}); err == nil || err.Error() != want.Reason {
		t.Errorf("got %v, want %+v", err, want)
	}
	v := &Vault{GitDir: filepath.Join(l.Root, "gone"), Store: filepath.Join(l.Root, "copy"), Aside: filepath.Join(l.Root, "seed.txt", "x")}
	l.Write("copy/HEAD", "ref: refs/heads/main\n")
	_, err = v.PutBack(t.Context(), func() bool { return false })
	if want := "the repository's .git is gone and its copy cannot be put back: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	odd := newPlain(t)
	odd.Write(".git/index", "garbage")
	if got, err := (&Tree{Repo: odd.Open()}).unseen(t.Context()); err != nil || !strings.HasPrefix(got, "git cannot list its files: git ls-files: ") {
		t.Errorf("got %q, %v", got, err)
	}
	release := repotest.Want[func() error](t)(gitcmd.LockRepository(t.Context(), l.Open()))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, err := gitcmd.LockRepository(ctx, l.Open()); err == nil || err.Error() != "wait for the lock of the repository: interrupted" {
		t.Errorf("got %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

package finish

import (
	"path/filepath"
	"testing"

	"relay/orchestrator/git/integration"
	"relay/reanchor/git/repotest"
)

// What a user has told git about merges and pushes of theirs changes neither what relay finish does nor what it says.
func TestFinishObeysNoSettings(t *testing.T) {
	t.Parallel()
	for _, set := range []string{
		"branch.main.mergeOptions --squash", "branch.main.mergeOptions '-s ours'", "branch.main.mergeOptions --no-commit", "branch.main.mergeOptions --no-ff",
		"merge.verifySignatures true", "merge.ff false",
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			l := &lab{repotest.NewLanded(t)}
			l.Sh("git config " + set)
			l.finish("main", integration.Merge)
			l.Wants(map[string]string{"new.txt": "new\n"})
			if got := l.Git("status", "--porcelain"); got != "" {
				t.Errorf("status %q", got)
			}
		})
	}
}

// It is said to have landed only when it has.
func TestFinishLooksWhereTheBranchIs(t *testing.T) {
	t.Parallel()
	l := &lab{repotest.NewLanded(t)}
	f, err := l.plan("main", integration.Merge)
	if err != nil {
		t.Fatal(err)
	}
	want := "git says that it has put main at " + f.New[:12] + ", but it is at " + f.Old[:12]
	if err := verify(t.Context(), f); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	l.Sh("git reset -q --hard " + f.New + "; git commit -q --allow-empty -m Further")
	if err := verify(t.Context(), f); err != nil {
		t.Errorf("the user has gone on: %v", err)
	}
}

// A name that stands for the branch that is checked out moves that one together with its files.
func TestFinishIntoAnAlias(t *testing.T) {
	t.Parallel()
	l := &lab{repotest.NewLanded(t)}
	l.Sh("git symbolic-ref refs/heads/master refs/heads/main")
	if f := l.finish("master", integration.Merge); f.Into != "main" || !f.Here {
		t.Errorf("got %+v", f)
	}
	if got := l.Git("status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
}

// Nothing but the branch is pushed, whatever git is set to push besides.
func TestPushObeysNoSettings(t *testing.T) {
	t.Parallel()
	l := &lab{repotest.NewLanded(t)}
	bare := filepath.Join(t.TempDir(), "bare.git")
	l.Sh("git init -q --bare " + bare + "; git remote add origin " + bare + "; git tag -a -m private private main; git config push.followTags true; git config remote.origin.mirror true; git config push.recurseSubmodules on-demand")
	f, err := l.plan("main", integration.Merge)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Push(t.Context(), "origin"); err != nil {
		t.Fatal(err)
	}
	if got, want := l.Git("ls-remote", "origin"), f.Tip+"\trefs/heads/"+repotest.Landed; got != want {
		t.Errorf("the remote has\n%s\nwant\n%s", got, want)
	}
}

package worker

import (
	"path/filepath"
	"strings"
	"testing"

	"relay/epic"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

func TestVaultOfALinkedWorktree(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	other := &lab{Repo: &repotest.Repo{T: t, Root: filepath.Join(t.TempDir(), "linked")}}
	l.Git("worktree", "add", "-q", "-b", "side", other.Root)
	other.open("echo x > work.txt; rm .git")
	other.begin()
	f := other.try(epic.Task{}, nil)
	if f.Outcome != "tamper" || other.Git("symbolic-ref", "HEAD") != "refs/heads/side" {
		t.Errorf("got %s %q", f.Outcome, f.Receipt.ErrorSummary)
	}
	if _, err := git.Open(t.Context(), other.Root); err != nil {
		t.Error(err)
	}
}

// A person who works in the checkout meanwhile, on a branch that has no commit yet too, finds all as it was left.
func TestTheUsersBranchWithoutACommit(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	one := y.proved("T1", `echo 1 > one; cd `+y.Root+`
		echo mine > mine.txt; git add mine.txt; git commit -qm mine
		git branch -q pages; git branch -q -D pages
		git switch -q --orphan pages; echo page > index.html; git add index.html`)
	if got := y.step(one); got != "T1 success" { // and the copy of .git is made anew
		t.Error(got)
	}
	two := y.proved("T2", "echo 2 > two")
	lost, err := y.life.Lost(t.Context())
	if notes := append(append(one.Result.Notes, two.Result.Notes...), lost...); err != nil || len(notes) > 0 {
		t.Errorf("%+v, %v", notes, err)
	}
	if got := y.Git("symbolic-ref", "HEAD") + " " + y.Git("ls-files") + " " + y.Git("log", "-1", "--format=%s", "main"); got != "refs/heads/pages index.html mine" {
		t.Error(got)
	}
	y.Wants(map[string]string{"index.html": "page\n", ".agents-os/relay/git-damaged/HEAD": "-"})
}

// The end of a run notes that the branch is gone that the user has checked out, with the command that brings it back.
func TestTheUsersBranchIsDeleted(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.Sh("echo staged > staged.txt; git add staged.txt")
	was := y.Git("rev-parse", "main")
	if got := y.step(y.proved("T1", "echo 1 > one; cd "+y.Root+"; git update-ref -d refs/heads/main")); got != "T1 success" {
		t.Error(got)
	}
	notes, err := y.life.Lost(t.Context())
	if got := texts(notes); err != nil || got != "main in your repository is gone; if that was not you, there: git update-ref refs/heads/main "+was {
		t.Fatalf("%q, %v", got, err)
	}
	_, undo, _ := strings.Cut(texts(notes), "there: ")
	y.Sh(undo)
	y.holds("one")
	if got := y.Git("rev-parse", "HEAD") + y.Git("status", "--porcelain"); got != was+"A  staged.txt" {
		t.Errorf("got %s, want %s", got, was)
	}
}

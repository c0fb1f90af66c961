package worker

import (
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
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
	one := y.proved("T1", `echo 1 > one; unset GIT_TRACE2_EVENT; cd `+y.Root+`
		echo mine > mine.txt; git add mine.txt; git commit -qm mine
		git branch -q pages; git branch -q -D pages
		git switch -q --orphan pages; echo page > index.html; git add index.html`)
	if got := y.step(one); got != "T1 success" { // and the copy of .git is made anew
		t.Error(got)
	}
	two := y.proved("T2", "echo 2 > two")
	if notes := append(one.Result.Notes, two.Result.Notes...); len(notes) != 1 || notes[0].Text != "your checkout is on pages and no longer on main; if that was not you, there: git switch main" {
		t.Errorf("%+v", notes)
	}
	if got := y.Git("symbolic-ref", "HEAD") + " " + y.Git("ls-files") + " " + y.Git("log", "-1", "--format=%s", "main"); got != "refs/heads/pages index.html mine" {
		t.Error(got)
	}
	y.Wants(map[string]string{"index.html": "page\n", ".agents-os/relay/git-damaged/HEAD": "-"})
}

// That the branch is gone that the user has checked out is told with the command that brings it back.
func TestTheUsersBranchIsDeleted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, noted string }{
		{"as it was", "true", "main in your checkout leads to no commit any more; if that was not you, there: git update-ref refs/heads/main "},
		{"with a new commit", "git commit -q --allow-empty -m mine", "main in your checkout leads to no commit any more; "},
		{"visited", "git switch -q -c other; git commit -q --allow-empty -m other; git switch -q main; git commit -q --allow-empty -m mine", "main in your "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			y := newSlotLab(t)
			ready := y.proved("T1", "echo 1 > one")
			y.Sh(c.before + `; git branch -f side; echo staged > staged.txt; git add staged.txt`)
			was := y.Git("rev-parse", "main")
			f := y.does("T2", "echo 2 > two; unset GIT_TRACE2_EVENT; cd "+y.Root+"; git update-ref -d refs/heads/main").Result
			if got := texts(f.Notes); f.Outcome != attempts.Success || !strings.HasPrefix(got, c.noted) {
				t.Fatalf("%s: %s, %q", f.Outcome, f.Receipt.ErrorSummary, got)
			}
			if got := y.step(ready); got != "T1 success" {
				t.Error(got)
			}
			y.Sh(texts(f.Notes)[strings.LastIndex(texts(f.Notes), "git update-ref"):])
			y.holds("one")
			if got := y.Git("rev-parse", "HEAD", "main", "side"); got != was+"\n"+was+"\n"+was {
				t.Errorf("got %s, want %s", got, was)
			}
			if got := y.Git("status", "--porcelain"); got != "A  staged.txt" {
				t.Errorf("status is %q", got)
			}
		})
	}
}

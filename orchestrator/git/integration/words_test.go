package integration

import (
	"errors"
	"strings"
	"testing"

	"relay/epic/slowtest"
	"relay/reanchor/git/repotest"
)

func TestWordsForObjects(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	if _, err := parseCommit("blob"); err == nil || err.Error() != "git returned an object that is not a commit" {
		t.Errorf("got %v", err)
	}
	if got, want := WithTrailers("", []string{"Relay-Task: T1"}), "(no message)\n\nRelay-Task: T1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (&ConflictError{Files: []string{"a", "b"}}).Error(), "merge conflict in a, b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	l := newLand(t)
	branch := NewBranch(l.Open(), "lab", Rebase)
	if _, err := readCommits(t.Context(), branch.Repo, "nothing"); err == nil || err.Error() != "git cat-file says: nothing missing" {
		t.Errorf("got %v", err)
	}
	l.Sh(sides + `git checkout -q -b side; add s 1; git checkout -q -b task base; add a 1; git merge -q -m m side; git checkout -q trunk; add t2 x`)
	replay := func(head string) error {
		w := repotest.Want[work](t)(readWork(t.Context(), branch, l.Git("rev-parse", "trunk"), l.Git("rev-parse", head)))
		_, err := replay(t.Context(), branch, w, repotest.Want[[]NamedCommit](t)(Commits(t.Context(), branch.Repo, []string{head, "^trunk"})), "")
		return err
	}
	if err := replay("task"); err == nil || err.Error() != "the work has merges in it" {
		t.Errorf("got %v", err)
	}
	l.Sh(`git checkout -q -b one base; echo y > t2; git add t2; git commit -q -m t2`)
	err := replay("one")
	var conflict *ConflictError
	if !errors.As(err, &conflict) || !strings.HasPrefix(conflict.Text, "in commit \"t2\":\n") {
		t.Errorf("got %v", err)
	}
	if err := advance(t.Context(), branch, l.Git("rev-parse", "one"), l.Git("rev-parse", "task")); err == nil || err.Error() != "the integration branch was moved" {
		t.Errorf("got %v", err)
	}
}

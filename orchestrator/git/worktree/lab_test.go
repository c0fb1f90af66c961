package worktree

import (
	"context"
	"testing"

	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// lab is a repository that ignores *.log, cache/ and .env, and its checkout, on main.
type lab struct {
	*repotest.Repo
	tree *Tree
}

// newPlain has no checkout of its own in hand; options are for git init.
func newPlain(t *testing.T, options ...string) *lab {
	t.Helper()
	return &lab{Repo: repotest.New(t, options...)}
}

func newTreeLab(t *testing.T) *lab {
	t.Helper()
	l := newPlain(t)
	l.Write("tests/a.txt", "a\n")
	l.Write(".gitignore", "*.log\ncache/\n.env\n")
	l.Write(".agents-os/relay/.gitignore", "*\n")
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "More")
	l.reopen()
	return l
}

// reopen opens the checkout anew, as another run does.
func (l *lab) reopen() { l.tree = &Tree{Repo: l.Open(), Branch: "refs/heads/main"} }

// begin is what a run does before its first attempt.
func (l *lab) begin() *lab {
	l.Helper()
	if err := l.tree.User.Record(l.Context(), l.tree.Runner()); err != nil {
		l.Fatal(err)
	}
	return l
}

// leftovers commits what is there and returns the commit.
func (l *lab) leftovers() string {
	l.Helper()
	head, err := l.tree.CommitLeftovers(l.Context(), "T1: One\n", nil)
	if err != nil {
		l.Fatal(err)
	}
	return head
}

func (l *lab) restore(commit string) {
	l.Helper()
	if err := l.tree.Restore(context.WithoutCancel(l.Context()), commit); err != nil {
		l.Fatal(err)
	}
}

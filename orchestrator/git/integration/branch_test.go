package integration

import (
	"errors"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
	"relay/reanchor/git/repotest"
)

// refs shows where the branch is: relay's ref and the branch, by the titles of their commits.
func (l *lab) refs() string {
	l.Helper()
	return l.Sh(`for r in refs/relay-tip/lab refs/heads/relay/lab; do git log -1 --format=%s $r -- 2>/dev/null || echo none; done | paste -sd' '`)
}

// three commits that follow one another, and one beside the second. Nothing is checked out on the branch.
const history = `git commit -q --allow-empty -m One; git tag one; git commit -q --allow-empty -m Two; git tag two; git commit -q --allow-empty -m Three; git tag three
	git checkout -q one; git commit -q --allow-empty -m Beside; git tag beside; git checkout -q main; `

func TestTipIsWhereRelayAndTheUserAgree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, tip, refs, refused string }{
		"not begun":             {given: ``, tip: "", refs: "none none"},
		"as relay left it":      {given: `git update-ref refs/relay-tip/lab two; git branch relay/lab two`, tip: "Two", refs: "Two Two"},
		"no ref":                {given: `git branch relay/lab two`, tip: "Two", refs: "Two Two"},
		"branch deleted":        {given: `git update-ref refs/relay-tip/lab two`, tip: "Two", refs: "Two Two"},
		"user committed":        {given: `git update-ref refs/relay-tip/lab two; git branch relay/lab three`, tip: "Three", refs: "Three Three"},
		"branch behind":         {given: `git update-ref refs/relay-tip/lab two; git branch relay/lab one`, tip: "Two", refs: "Two Two"},
		"behind, looked at":     {given: `git update-ref refs/relay-tip/lab two; git branch relay/lab one; git checkout -q relay/lab`, tip: "Two", refs: "Two One"},
		"behind, in a worktree": {given: `git update-ref refs/relay-tip/lab two; git worktree add -q -b relay/lab ../look one`, tip: "Two", refs: "Two One"},
		"behind, in a bisection": {
			given: `git update-ref refs/relay-tip/lab two; git checkout -q -b relay/lab one; git bisect start -q one one~1 >/dev/null; git checkout -q --detach`,
			tip:   "Two", refs: "Two One",
		},
		"diverged": {given: `git update-ref refs/relay-tip/lab two; git branch relay/lab beside`, refs: "Two Beside", refused: "git branch -m relay/lab mine-lab, then relay work"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l := newLand(t)
			l.Sh(history + c.given)
			branch, before := NewBranch(l.Open(), "lab", Merge), l.refs()
			tip, err := branch.Tip(t.Context())
			if after := l.refs(); after != before {
				t.Errorf("a look at it moved %s to %s", before, after)
			}
			var refused *attempts.RefusedError
			if errors.As(err, &refused) != (c.refused != "") || err != nil && refused == nil || refused != nil && !strings.HasPrefix(refused.Hint, c.refused) {
				t.Fatalf("error %v, want %q", err, c.refused)
			}
			if tip != "" {
				if begun, err := create(t.Context(), branch, ""); err != nil || begun != tip {
					t.Errorf("it begins at %s (%v), want %s", begun, err, tip)
				}
				tip = l.Git("log", "-1", "--format=%s", tip)
			}
			if tip != c.tip || l.refs() != c.refs {
				t.Errorf("tip %q refs %q, want %q and %q", tip, l.refs(), c.tip, c.refs)
			}
		})
	}
}

func TestAdvanceMovesWhatStandsWhereItWasSeen(t *testing.T) {
	t.Parallel()
	const begun = `git update-ref refs/relay-tip/lab one; git branch relay/lab one; `
	for name, c := range map[string]struct{ given, refs, after string }{
		"both":                  {given: begun, refs: "Two Two"},
		"moved by another":      {given: begun + `git update-ref refs/relay-tip/lab beside`, refs: "Beside One", after: "moved"},
		"user committed":        {given: begun + `git branch -f relay/lab beside`, refs: "One Beside", after: "moved"},
		"branch deleted":        {given: begun + `git branch -D -q relay/lab`, refs: "Two Two"},
		"branch is there":       {given: begun + `git branch -f relay/lab two`, refs: "Two Two"},
		"looked at":             {given: begun + `git checkout -q relay/lab`, refs: "Two One"},
		"locked by a dead git":  {given: begun + `touch -d '1 minute ago' .git/refs/relay-tip/lab.lock .git/refs/heads/relay/lab.lock`, refs: "Two Two"},
		"ref made a link":       {given: begun + `git symbolic-ref refs/relay-tip/lab refs/heads/relay/lab`, refs: "Two Two"},
		"packed":                {given: begun + `git pack-refs --all --prune`, refs: "Two Two"},
		"rebase on the branch":  {given: begun + `mkdir .git/rebase-merge; echo refs/heads/relay/lab > .git/rebase-merge/head-name`, refs: "Two One"},
		"nobody reads the hook": {given: begun + `mkdir -p .git/hooks; printf '#!/bin/sh\nexit 1\n' > .git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction`, refs: "Two Two"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l := newLand(t)
			l.Sh(history + c.given)
			before := l.Sh(`git status --porcelain; git symbolic-ref HEAD; git rev-parse HEAD main`)
			err := advance(t.Context(), NewBranch(l.Open(), "lab", Merge), l.Git("rev-parse", "one"), l.Git("rev-parse", "two"))
			if errors.Is(err, errMoved) != (c.after == "moved") || err != nil && !errors.Is(err, errMoved) {
				t.Errorf("error %v", err)
			}
			if got := l.refs(); got != c.refs {
				t.Errorf("refs are at %q, want %q", got, c.refs)
			}
			if after := l.Sh(`git status --porcelain; git symbolic-ref HEAD; git rev-parse HEAD main`); after != before {
				t.Errorf("the checkout was %s and is %s", before, after)
			}
		})
	}
}

func TestTrunkBegins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, refs, why, hint string }{
		"at the head":         {given: ``, refs: "Begin Begin"},
		"where it was":        {given: `git branch relay/lab one`, refs: "One One"},
		"in the way":          {given: `git branch relay`, refs: "none none", why: "there is a branch named relay, so git cannot make one named relay/lab", hint: "git branch -m relay another-name, then relay work"},
		"in the way, below":   {given: `git branch relay/lab/x`, refs: "none none", why: "there is a branch named relay/lab/x, so git cannot make one named relay/lab", hint: "git branch -m relay/lab/x another-name, then relay work"},
		"default of old days": {given: `git branch -m main trunk; git pack-refs --all`, refs: "Begin Begin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLand(t)
			base := l.Git("rev-parse", "HEAD")
			l.Sh(history + c.given)
			_, err := create(t.Context(), NewBranch(l.Open(), "lab", Merge), base)
			var refused *attempts.RefusedError
			if errors.As(err, &refused) != (c.hint != "") || err != nil && refused == nil || refused != nil && *refused != (attempts.RefusedError{Reason: c.why, Hint: c.hint}) {
				t.Errorf("error %v", err)
			}
			if got := l.refs(); got != c.refs {
				t.Errorf("refs are at %q, want %q", got, c.refs)
			}
		})
	}
}

func TestTrunkHolds(t *testing.T) {
	t.Parallel()
	l := newLand(t)
	l.Sh(history + `git update-ref refs/relay-tip/lab two`)
	branch := NewBranch(l.Open(), "lab", Merge)
	for commit, held := range map[string]bool{"one": true, "two": true, "three": false, "beside": false} {
		if got := repotest.Want[bool](t)(branch.Holds(t.Context(), l.Git("rev-parse", commit))); got != held {
			t.Errorf("%s: %t, want %t", commit, got, held)
		}
	}
	if got := repotest.Want[bool](t)(branch.Holds(t.Context(), strings.Repeat("1", 40))); got {
		t.Error("it holds a commit that is not there")
	}
	if got := repotest.Want[bool](t)(NewBranch(l.Open(), "other", Merge).Holds(t.Context(), l.Git("rev-parse", "one"))); got {
		t.Error("a branch that has not begun holds something")
	}
}

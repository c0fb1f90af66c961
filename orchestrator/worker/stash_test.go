package worker

import (
	"fmt"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
)

// The stash of a slot is its own: whatever agents do with it, the user's is the same in the morning, and what they leave in
// it is kept.
func TestStashIsTheUsers(t *testing.T) {
	t.Parallel()
	const left = "1 commit that the agent left on no branch is kept below refs/relay/20260101-lab/T1/1-left/"
	for name, c := range map[string]struct{ script, kept, noted string }{
		"looks":               {"git stash list", "", ""},
		"stashes and pops":    {"echo 1 > seed.txt; git stash -q; git stash pop -q", "", ""},
		"pops the user's":     {"git stash pop -q || true", "", ""},
		"has it cleared away": {"git repack -adq; git prune --expire=now", "", ""},
		"clears":              {"git stash clear", "", ""},
		"leaves one":          {"echo mine > seed.txt; git stash -q", "mine", left},
		"leaves one detached": {"git switch -q --detach; echo mine > seed.txt; git stash -q; git switch -q -", "mine", left},
		"leaves a branch":     {"git switch -q -c aside; echo mine > seed.txt; git commit -qam aside; git switch -q -", "mine", left},
		"leaves it packed":    {"git switch -q -c aside; echo mine > seed.txt; git commit -qam aside; git switch -q -; git pack-refs --all", "mine", left},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			y := newSlotLab(t)
			y.Sh("echo 1 > seed.txt; git stash push -q -m first; echo 2 > seed.txt; git stash push -q -m second")
			before := y.Git("stash", "list", "--format=%H %gs")
			r := y.does("T1", c.script+"; echo x > x")
			if r.Result.Outcome != attempts.Success || texts(r.Result.Notes) != c.noted && !strings.HasPrefix(texts(r.Result.Notes), c.noted+"/") {
				t.Fatalf("%s: %s, %q", r.Result.Outcome, r.Result.Receipt.ErrorSummary, texts(r.Result.Notes))
			}
			if got := y.Git("stash", "list", "--format=%H %gs"); got != before {
				t.Errorf("the stash holds %q, want %q", got, before)
			}
			refs := y.Git("for-each-ref", "--format=%(refname)", "refs/relay/20260101-lab/T1/1-left")
			if c.kept == "" && refs != "" || c.kept != "" && y.Git("show", refs+":seed.txt") != c.kept {
				t.Errorf("kept %q", refs)
			}
		})
	}
}

// In the user's own checkout the stash is theirs: relay keeps what is gone of it, and says how to bring it back.
func TestStashOfTheCheckout(t *testing.T) {
	t.Parallel()
	l := newLab(t, "sh ../does; echo x >> x")
	l.Sh("echo 1 > seed.txt; git stash push -q -m first; echo 2 > seed.txt; git stash push -q -m second")
	l.begin()
	kept := "refs/relay/20260101-lab/stash/" + l.Git("rev-parse", "stash@{1}")
	undo := "git stash store -m 'On main: first' " + kept
	for i, c := range []struct{ does, note, list string }{
		{"git stash list", "", "On main: second\nOn main: first"},
		{"git stash drop -q stash@{1}", `"On main: first" is gone from your stash; if that was not you: ` + undo, "On main: second"},
		{"true", "", "On main: second"},
	} {
		l.Write("../does", c.does+"\n")
		f := l.try(epic.Task{ID: fmt.Sprintf("T%d", i+1), Title: "One"}, nil)
		if list := l.Git("stash", "list", "--format=%gs"); texts(f.Notes) != c.note || list != c.list {
			t.Errorf("%d: %q, the stash holds %q, want %q, %q", i, texts(f.Notes), list, c.note, c.list)
		}
	}
	l.Sh(undo)
	if list := l.Git("stash", "list", "--format=%gs"); list != "On main: first\nOn main: second" {
		t.Errorf("the stash holds %q", list)
	}
}

package orchestrator

import (
	"fmt"
	"strings"
	"testing"

	"relay/attempts"
	"relay/orchestrator/trees"
)

// The stash is one for all worktrees: whatever agents do with it, the user's is the same in the morning, and what they
// leave in it is kept elsewhere.
func TestStashIsTheUsers(t *testing.T) {
	t.Parallel()
	const (
		first  = `"On main: first" had gone from your stash; relay put it back, on top of the others: if that was you, git stash drop it again, and it stays away`
		second = `"On main: second" had gone from your stash; relay put it back, on top of the others: if that was you, git stash drop it again, and it stays away`
		left   = "the agent left something in the stash, which is yours too: it is kept as refs/relay/20260101-lab/stash/"
	)
	for name, c := range map[string]struct {
		script string
		want   []string // subjects, newest first
		kept   string   // what the agent's own entry holds
		noted  string
	}{
		"looks":                  {"git stash list", []string{"second", "first"}, "", ""},
		"stashes and pops":       {"echo 1 > seed.txt; git stash -q; git stash pop -q", []string{"second", "first"}, "", ""},
		"pops the user's":        {"git stash pop -q", []string{"second", "first"}, "", second},
		"has it cleared away":    {"git repack -adq; git stash pop -q; git repack -adq; git prune --expire=now", []string{"second", "first"}, "", second},
		"clears":                 {"git stash clear", []string{"second", "first"}, "", first},
		"drops the older one":    {"git stash drop -q stash@{1}", []string{"first", "second"}, "", first},
		"leaves one":             {"echo mine > seed.txt; git stash -q", []string{"second", "first"}, "mine", left},
		"leaves one detached":    {"git switch -q --detach; echo mine > seed.txt; git stash -q; git switch -q -", []string{"second", "first"}, "mine", left},
		"leaves one in a rebase": {"echo a > a; git add a; git commit -qm a; git -c sequence.editor='sed -i s/^pick/edit/' rebase -q -i HEAD~1; echo mine > seed.txt; git stash -q; git rebase --continue", []string{"second", "first"}, "mine", left},
		"leaves one with name":   {"echo mine > seed.txt; git stash push -q -m 'half done'; git stash drop -q stash@{1}", []string{"second", "first"}, "mine", left},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYardLab(t)
			y.Sh("echo 1 > seed.txt; git stash push -q -m first; echo 2 > seed.txt; git stash push -q -m second")
			if err := y.l.stash.begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := y.does("T1", c.script+"; echo x > x")
			if r.Finding.Outcome != attempts.Success {
				t.Fatalf("%s: %s", r.Finding.Outcome, r.Finding.Receipt.ErrorSummary)
			}
			var got []string
			for line := range strings.Lines(y.Git("stash", "list", "--format=%gs")) {
				got = append(got, strings.TrimPrefix(strings.TrimSpace(line), "On main: "))
			}
			if strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("the stash holds %q, want %q", got, c.want)
			}
			refs := y.Git("for-each-ref", "--format=%(refname)", "refs/relay/20260101-lab/stash")
			if c.kept == "" && refs != "" || c.kept != "" && y.Git("show", refs+":seed.txt") != c.kept {
				t.Errorf("kept %q", refs)
			}
			if err := y.l.forget(t.Context()); err != nil {
				t.Error(err)
			}
			if left := y.Git("for-each-ref", "refs/relay-stash"); left != "" {
				t.Errorf("kept longer than the run: %s", left)
			}
			var notes []string
			for _, n := range r.Finding.Notes {
				notes = append(notes, n.Text)
			}
			if all := strings.Join(notes, "\n"); !strings.HasPrefix(all, c.noted) || c.noted == "" && all != "" {
				t.Errorf("notes %q, want %q", all, c.noted)
			}
		})
	}
}

// A stash with an entry whose commit is gone keeps no run from beginning, and the others are as safe as ever.
func TestStashWithAHole(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.Sh("echo 1 > seed.txt; git stash push -q -m first; echo 2 > seed.txt; git stash push -q -m second; h=$(git rev-parse stash@{1}); rm -f .git/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-)")
	if err := y.l.stash.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := y.Git("for-each-ref", "--format=%(refname)", "refs/relay-stash"), "refs/relay-stash/20260101-lab/"+y.Git("rev-parse", "stash@{0}"); got != want {
		t.Errorf("pinned %q, want %q", got, want)
	}
	if err := y.l.forget(t.Context()); err != nil {
		t.Error(err)
	}
}

// What the user stashes while agents work stays, and so does what another task's agent may want back.
func TestStashMeanwhile(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.does("T1", "echo x > x; cd "+y.l.home.Root()+"; echo 3 > seed.txt; git stash push -q -m meanwhile")
	y.does("T2", "git stash clear; echo y > y")
	if got := y.Git("stash", "list", "--format=%gs"); got != "On main: meanwhile" {
		t.Errorf("the stash holds %q", got)
	}
	y.Sh("echo 9 > seed.txt")
	other := trees.Stashed{Commit: y.Git("stash", "create"), Message: "WIP on relay-tasks/20260101-lab/T9: 1 x"}
	y.Git("stash", "store", "--message", other.Message, other.Commit)
	y.does("T3", "echo z > z")
	if got := y.Git("stash", "list", "--format=%gs"); got != other.Message+"\nOn main: meanwhile" {
		t.Errorf("the stash holds %q", got)
	}
}

// What the user drops a second time stays dropped, and is kept elsewhere: it may have been an agent again.
func TestStashDroppedTwice(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.Sh("echo 1 > seed.txt; git stash push -q -m first; echo 2 > seed.txt; git stash push -q -m second")
	if err := y.l.stash.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := y.Git("rev-parse", "stash@{1}")
	kept := "refs/relay/20260101-lab/stash/" + first
	for i, c := range []struct{ does, note, list string }{
		{"git stash drop -q stash@{1}", `"On main: first" had gone from your stash; relay put it back, on top of the others: if that was you, git stash drop it again, and it stays away`, "On main: first\nOn main: second"},
		{"true", "", "On main: first\nOn main: second"},
		{"git stash drop -q", `"On main: first" had gone from your stash again; relay leaves it so, and keeps it as ` + kept, "On main: second"},
		{"true", "", "On main: second"},
		{"git stash drop -q; git reflog expire --expire=now --all; git update-ref -d " + kept + "; git for-each-ref --format='delete %(refname)' refs/relay-stash | git update-ref --stdin; git prune --expire=now", "", ""},
	} {
		note := ""
		for _, n := range y.does(fmt.Sprintf("T%d", i+1), "unset GIT_TRACE2_EVENT; "+c.does+"; echo x > x").Finding.Notes {
			note += n.Text
		}
		if list := y.Git("stash", "list", "--format=%gs"); note != c.note || list != c.list {
			t.Errorf("%d: %q, the stash holds %q, want %q, %q", i, note, list, c.note, c.list)
		}
	}
}

// What is stashed on no branch is the agent's that has done it, and the user's who stands there.
func TestStashOnNoBranch(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.l.busy.Add(1) // a neighbour
	y.does("T1", "echo x > x; cd "+y.Root+"; git switch -q --detach; echo 3 > seed.txt; git stash push -q -m mine; git switch -q main")
	if got := y.Git("stash", "list", "--format=%gs"); got != "On (no branch): mine" {
		t.Errorf("the stash holds %q", got)
	}
	y.does("T2", "echo y > y; git add y; git commit -qm y; git switch -q --detach; echo 4 > seed.txt; git stash push -q -m theirs; git switch -q -")
	if got := y.Git("stash", "list", "--format=%gs"); got != "On (no branch): mine" {
		t.Errorf("the stash holds %q", got)
	}
}

package orchestrator

import (
	"strings"
	"testing"

	"relay/attempts"
)

// The stash is one for all worktrees: whatever agents do with it, the user's is the same in the morning, and what they
// leave in it is kept elsewhere.
func TestStashIsTheUsers(t *testing.T) {
	t.Parallel()
	const (
		first  = `"On main: first" had gone from your stash; relay put it back`
		second = `"On main: second" had gone from your stash; relay put it back`
		left   = "the agent left something in the stash, which is yours too: it is kept as refs/relay/20260101-lab/stash/"
	)
	for name, c := range map[string]struct {
		script string
		want   []string // subjects, newest first
		kept   string   // what the agent's own entry holds
		noted  string
	}{
		"looks":                {"git stash list", []string{"second", "first"}, "", ""},
		"stashes and pops":     {"echo 1 > seed.txt; git stash -q; git stash pop -q", []string{"second", "first"}, "", ""},
		"pops the user's":      {"git stash pop -q", []string{"second", "first"}, "", second},
		"clears":               {"git stash clear", []string{"second", "first"}, "", first},
		"drops the older one":  {"git stash drop -q stash@{1}", []string{"first", "second"}, "", first},
		"leaves one":           {"echo mine > seed.txt; git stash -q", []string{"second", "first"}, "mine", left},
		"leaves one with name": {"echo mine > seed.txt; git stash push -q -m 'half done'; git stash drop -q stash@{1}", []string{"second", "first"}, "mine", left},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYardLab(t)
			y.sh("echo 1 > seed.txt; git stash push -q -m first; echo 2 > seed.txt; git stash push -q -m second")
			if err := y.l.stash.begin(); err != nil {
				t.Fatal(err)
			}
			r := y.does("T1", c.script+"; echo x > x")
			if r.Finding.Outcome != attempts.Success {
				t.Fatalf("%s: %s", r.Finding.Outcome, r.Finding.Receipt.ErrorSummary)
			}
			var got []string
			for line := range strings.Lines(y.git("stash", "list", "--format=%gs")) {
				got = append(got, strings.TrimPrefix(strings.TrimSpace(line), "On main: "))
			}
			if strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("the stash holds %q, want %q", got, c.want)
			}
			refs := y.git("for-each-ref", "--format=%(refname)", "refs/relay/20260101-lab/stash")
			if c.kept == "" && refs != "" || c.kept != "" && y.git("show", refs+":seed.txt") != c.kept {
				t.Errorf("kept %q", refs)
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

// What the user stashes while agents work stays, and so does what another task's agent may want back.
func TestStashMeanwhile(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.does("T1", "echo x > x; cd "+y.l.home.Root()+"; echo 3 > seed.txt; git stash push -q -m meanwhile")
	y.does("T2", "git stash clear; echo y > y")
	if got := y.git("stash", "list", "--format=%gs"); got != "On main: meanwhile" {
		t.Errorf("the stash holds %q", got)
	}
	y.sh("echo 9 > seed.txt")
	other := stashed{commit: y.git("stash", "create"), message: "WIP on relay-tasks/20260101-lab/T9: 1 x"}
	y.git("stash", "store", "--message", other.message, other.commit)
	y.does("T3", "echo z > z")
	if got := y.git("stash", "list", "--format=%gs"); got != other.message+"\nOn main: meanwhile" {
		t.Errorf("the stash holds %q", got)
	}
}

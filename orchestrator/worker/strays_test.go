package worker

import (
	"strings"
	"testing"

	"relay/attempts"
)

// What an agent has reset away it does not want.
func TestWorkThatWasTakenBack(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	r := y.does("T1", "echo x > x; git add x; git commit -qm x; git reset -q --hard HEAD~1", "test ! -e x")
	if r.Result.Outcome != attempts.Success || r.Result.Head != r.Attempt.Base {
		t.Errorf("got %s %q, %s", r.Result.Outcome, r.Result.Receipt.ErrorSummary, texts(r.Result.Notes))
	}
}

// The slot is the attempt's own, so work counts wherever in it the agent left it.
func TestWorkIsFoundWhereverItLies(t *testing.T) {
	t.Parallel()
	const commit = "echo x > x; git add x; git commit -qm x"
	for name, c := range map[string]struct {
		script string
		from   string // "": it stays on its branch
		fails  string // "": it lands, with a file x that says x
	}{
		"on its branch":              {commit, "", ""},
		"on a branch":                {"git switch -qc feature/x; " + commit, "on the branch feature/x", ""},
		"on a branch, half":          {"git switch -qc feature/x; echo y > y; git add y; git commit -qm y; echo x > x; git add x", "on the branch feature/x", ""},
		"on a branch, not committed": {"git switch -qc feature/x; echo x > x", "on the branch feature/x", ""},
		"on a branch, and back":      {"b=$(git branch --show-current); git switch -qc feature/x; " + commit + "; git switch -q $b", "on the branch feature/x", ""},
		"detached":                   {"git switch -q --detach; " + commit, "on a detached HEAD", ""},
		"detached, and back":         {"b=$(git branch --show-current); git switch -q --detach; " + commit + "; git switch -q $b", "on a detached HEAD", ""},
		"an amended base":            {"echo x > x; git add x; git commit -q --amend -m mine", "on the amended commit BASE", ""},
		"an amended base, on a branch": {
			"git switch -qc feature/x; echo x > x; git add x; git commit -q --amend --no-edit", "on the amended commit BASE", "",
		},
		"in the stash":            {"echo x > x; git add x; git stash -q", "in the stash", ""},
		"in the stash, untracked": {"echo x > x; git stash -qu", "in the stash", ""},
		"in a worktree":           {"git worktree add -q -b side ../side-$$; cd ../side-$$; " + commit + "; cd -; git worktree remove ../side-$$", "on the branch side", ""},
		"two branches, one right": {"b=$(git branch --show-current); git switch -qc one; echo y > x; git add x; git commit -qm one; git switch -qc two $b; " + commit + "; git switch -q $b", "on the branch two", ""},
		"a wrong one on its branch": {
			"b=$(git branch --show-current); git switch -qc one; " + commit + "; git switch -q $b; echo y > x; git add x; git commit -qm y", "", "exit status 1",
		},
		"the base taken back":        {"git reset -q --hard HEAD~1; " + commit, "", "rewrote commits"},
		"none of its branches right": {"git switch -qc one; echo y > x; git add x; git commit -qm one", "on the branch one", "exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "true")
			l.Sh("echo even > even.txt; git add even.txt; git commit -qm Even")
			base := l.Git("rev-parse", "HEAD")
			y := l.inSlots(l.slotOptions())
			r := y.does("T1", c.script, "test ! -e x || grep -qx x x").Result
			if c.fails != "" {
				if r.Outcome == attempts.Success || !strings.Contains(r.Receipt.ErrorSummary, c.fails) {
					t.Errorf("got %s %q, want a failure: %s", r.Outcome, r.Receipt.ErrorSummary, c.fails)
				}
				return
			}
			if r.Outcome != attempts.Success {
				t.Fatalf("got %s %q", r.Outcome, r.Receipt.ErrorSummary)
			}
			if got := y.Git("show", r.Head+":x"); got != "x" {
				t.Errorf("x is %q", got)
			}
			if got := y.Git("rev-list", "--parents", base+".."+r.Head); !strings.HasSuffix(got, base) {
				t.Errorf("the work does not follow the base: %s", got)
			}
			want := ""
			if c.from != "" {
				want = "the agent left its work " + strings.ReplaceAll(c.from, "BASE", base[:12]) + ": relay took it from there"
			}
			if got := texts(r.Notes); strings.Count(got, "left its work") > 1 || !strings.HasPrefix(got, want) || want == "" && strings.Contains(got, "left its work") {
				t.Errorf("noted %q, want %q", got, want)
			}
		})
	}
}

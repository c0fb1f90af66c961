package worker

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
	"relay/orchestrator/changes"
	"relay/orchestrator/engine"
)

// An agent that moves the branch itself has landed nothing.
func TestAgentsCannotLand(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"the branch":                 "git update-ref refs/heads/relay/20260101-lab HEAD",
		"relay's own ref":            "git update-ref refs/relay-tip/20260101-lab HEAD",
		"both":                       "git update-ref refs/heads/relay/20260101-lab HEAD; git update-ref refs/relay-tip/20260101-lab HEAD",
		"by a push":                  "git push -q . HEAD:relay/20260101-lab",
		"from the branch":            "git switch -q relay/20260101-lab; echo y > y; git add y; git commit -qm y; git switch -q -",
		"away":                       "git update-ref -d refs/heads/relay/20260101-lab; git update-ref -d refs/relay-tip/20260101-lab",
		"and stays on the branch":    "git switch -q relay/20260101-lab; echo y > y; git add y; git commit -qm y",
		"and the branch is a folder": "git update-ref -d refs/heads/relay/20260101-lab; git update-ref refs/heads/relay/20260101-lab/x HEAD",
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			y := newSlotLab(t)
			y.does("T1", "echo x > x; git add x; git commit -qm x; "+script+"; exit 3")
			y.holds("")
			if got := y.Git("rev-parse", "refs/relay-tip/20260101-lab"); got != y.Git("rev-parse", "main") {
				t.Errorf("the tip is at %s", y.Git("log", "--oneline", got))
			}
			if got := y.step(y.proved("T2", "echo 2 > two")); got != "T2 success" {
				t.Error(got)
			}
			y.holds("two")
		})
	}
}

// What a person commits on the branch meanwhile is taken in, and proved with what lands next.
func TestPersonOnTheBranch(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, "test ! -e two || test ! -e mine")
	two, three := y.proved("T2", "echo 2 > two"), y.proved("T3", "echo 3 > three")
	mine := filepath.Join(t.TempDir(), "mine")
	y.Git("worktree", "add", "-q", mine, "relay/20260101-lab")
	y.Sh("cd " + mine + " && echo m > mine && git add mine && git commit -qm mine")
	j, err := y.l.merger.Join(t.Context(), []engine.Verified{three})
	if err != nil {
		t.Fatal(err)
	}
	if moved, err := y.l.merger.Advance(t.Context(), j); moved || err != nil {
		t.Fatalf("moved: %v, %v", moved, err)
	}
	if got := y.step(three); got != "T3 success" {
		t.Fatal(got)
	}
	if got := y.step(two); got != "T2 conflict" || y.last.Outcome != attempts.Conflict {
		t.Fatal(got)
	}
	if got := y.Git("ls-tree", "--name-only", "refs/relay-tip/20260101-lab"); !strings.Contains(got, "mine") || !strings.Contains(got, "three") {
		t.Errorf("the tip holds %q", got)
	}
	if got := y.Sh("cd " + mine + " && git status --porcelain && ls"); strings.Contains(got, "three") {
		t.Errorf("the person's checkout was touched: %q", got)
	}
}

// Agents may have neighbours, and a person may work in the repository: the branch is put back, and no task is gated for it.
func TestMovedTipGatesNoTask(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	f := y.does("T1", "echo x > x; cd "+y.Root+"; git update-ref refs/relay-tip/20260101-lab $(git commit-tree -m y HEAD^{tree})").Result
	if f.Outcome != attempts.Success || len(f.Notes) != 1 || f.Notes[0].Text != "relay's own ref refs/relay-tip/20260101-lab was moved; relay put it back" {
		t.Errorf("%s, %+v", f.Outcome, f.Notes)
	}
}

// What was put right while something landed is told to whoever looks next.
func TestTamperingDuringLanding(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	one := y.proved("T1", "echo 1 > one")
	y.Git("update-ref", "refs/relay-tip/20260101-lab", y.Git("commit-tree", "-m", "y", "HEAD^{tree}"))
	if got := y.step(one); got != "T1 success" {
		t.Fatal(got)
	}
	if why, err := y.l.headGuard.Mend(t.Context()); err != nil || why == "" {
		t.Errorf("got %+v, %v", why, err)
	}
	if why, err := y.l.headGuard.Mend(t.Context()); err != nil || why != "" {
		t.Errorf("told again: %+v, %v", why, err)
	}
}

// A person who works on the branch is not in the way of a task, wherever they are by the time relay looks.
func TestPersonOnTheBranchIsNotBlamed(t *testing.T) {
	t.Parallel()
	const branch = "relay/20260101-lab"
	const taken = "1 commit that relay did not make was added to relay/20260101-lab (git log "
	commit := "echo m > mine; git add mine; git commit -qm mine; "
	for name, c := range map[string]struct{ script, holds, noted string }{
		"stays in a worktree": {"git worktree add -q ../mine " + branch + "; cd ../mine; " + commit, "mine", taken},
		"and goes back":       {"git switch -q " + branch + "; " + commit + "git switch -q main", "mine", taken},
		"puts it there":       {"git switch -q -c aside; " + commit + "git switch -q main; git branch -q -f " + branch + " aside", "mine", taken},
		"rewrites it": {
			"git switch -q " + branch + "; git commit -q --amend -m other; git switch -q main", "",
			"the branch relay/20260101-lab was moved; relay put it back, and keeps what was there as refs/relay/20260101-lab-moved/",
		},
		"deletes it": {"git branch -q -D " + branch, "", "the branch relay/20260101-lab was moved; relay put it back"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 2)
			t.Parallel()
			y := newSlotLab(t)
			y.Sh(c.script)
			for _, id := range []string{"T1", "T2"} {
				f := y.proved(id, "echo x > "+id).Result
				if want := c.noted; f.Gate != "" || !strings.HasPrefix(texts(f.Notes), want) || want == "" && texts(f.Notes) != "" {
					t.Errorf("%s: gate %q, %q", id, f.Gate, texts(f.Notes))
				}
				c.noted = ""
			}
			if got := y.Git("diff", "--name-only", "main", "refs/relay-tip/20260101-lab"); got != c.holds {
				t.Errorf("it holds %q, want %q", got, c.holds)
			}
		})
	}
}

// An agent that checks the branch out for itself lands nothing; and what a person adds is told with what it changes of the
// terms.
func TestAgentsWorktreeIsNoPersons(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.l.run.o.Epic.Protected = []string{"seed.txt"}
	mine := filepath.Join(t.TempDir(), "mine")
	const change = "; echo b >> tests/a.txt; echo b >> seed.txt; git commit -qam tune; "
	for _, script := range []string{
		"git worktree add -q " + mine + " relay/20260101-lab; cd " + mine + change + "exit 1",
		"echo 2 > two; git worktree add -q " + mine + "2 relay/20260101-lab; cd " + mine + "2" + change,
	} {
		id := "T" + strconv.Itoa(len(script))
		if f := y.does(id, script).Result; f.Gate != "" {
			t.Errorf("%s: %s: %q", id, f.Outcome, texts(f.Notes))
		}
		y.holds("")
	}
	y.Sh("git worktree add -q ../person relay/20260101-lab; cd ../person" + change)
	was, is := y.Git("rev-parse", "--short=7", "relay/20260101-lab^"), y.Git("rev-parse", "--short=7", "relay/20260101-lab")
	f := y.proved("T3", "echo 3 > three").Result
	want := "1 commit that relay did not make was added to relay/20260101-lab (git log " + was + ".." + is + ")" +
		"; that changes seed.txt, which is protected; that changes the tests in tests/a.txt"
	if got := texts(f.Notes); got != want {
		t.Errorf("noted %q, want %q", got, want)
	}
	if got, want := changes.Notable(t.Context(), y.l.run.home, y.l.run.o.Epic, "no", "where"), "; what they change git does not say"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

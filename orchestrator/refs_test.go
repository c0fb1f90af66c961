package orchestrator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
)

// Agents may do with the user's branches what they like: in the end they are where the user has them, and what went is
// told.
func TestBranchesAreTheUsers(t *testing.T) {
	t.Parallel()
	const (
		commits = "echo x > x; git add x; git commit -qm x; "
		back    = " was moved by an agent; relay put it back, and keeps what was there as refs/relay/20260101-lab-moved/"
		gone    = " was deleted during the attempt; if that was not you: git "
	)
	for name, c := range map[string]struct {
		script string
		grave  bool
		noted  string
	}{
		"merges to a branch":       {"b=$(git branch --show-current); git checkout -q feature; git merge -q $b; git checkout -q $b", true, "the branch feature" + back},
		"and makes a merge":        {"b=$(git branch --show-current); git checkout -q feature; git merge -q --no-ff -m m $b; git checkout -q $b", true, "the branch feature" + back},
		"moves the user's":         {"git update-ref refs/heads/main HEAD", true, "the branch main" + back},
		"moves it to no work":      {"git update-ref refs/heads/main $(git commit-tree -m y HEAD^{tree})", true, "the branch main" + back},
		"pushes":                   {"git push -q . +HEAD:feature", true, "the branch feature" + back},
		"on it in its worktree":    {"b=$(git branch --show-current); git checkout -q --ignore-other-worktrees main; echo y > y; git add y; git commit -qm y; git checkout -q $b", true, "the branch main" + back},
		"in a worktree of its own": {"git worktree add -q ../mine feature; cd ../mine; echo y > y; git add y; git commit -qm y", true, "the branch feature" + back},
		"moves a tag":              {"git tag -f v1 HEAD", true, "the tag v1" + back},
		"deletes the user's":       {"git update-ref -d refs/heads/main", true, "the branch main, which is checked out, was deleted during the attempt; relay put it back"},
		"deletes a branch":         {"git branch -q -D feature", false, "the branch feature" + gone + "branch feature "},
		"deletes a tag":            {"git tag -d v1", false, "the tag v1" + gone + "tag v1 "},
		"one of two names":         {"git branch -q -D feature; git switch -q -c side main; git switch -q -", false, "the branch feature" + gone + "branch feature "},
		"makes some":               {"git branch side; git tag v9", false, "an agent has made the branch side, the tag v9: that stays, and relay does not land it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYardLab(t)
			y.Sh("git switch -q -c feature; echo f > f; git add f; git commit -qm f; git switch -q main; git tag v1; git pack-refs --all")
			if err := y.l.refs.Begin(); err != nil {
				t.Fatal(err)
			}
			all := func() string {
				return y.Git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", "refs/heads/feature", "refs/tags/v1")
			}
			before := all()
			f := y.does("T1", commits+c.script).Finding
			if grave := f.Outcome == attempts.Tamper && f.Gate == attempts.TamperedWith; grave != c.grave || !grave && f.Outcome != attempts.Success {
				t.Errorf("%s, gate %q: %s", f.Outcome, f.Gate, f.Receipt.ErrorSummary)
			}
			if !strings.HasPrefix(f.texts(), c.noted) || len(f.Notes) != 1 {
				t.Errorf("noted %q, want %q", f.texts(), c.noted)
			}
			if after := all(); after != before && !strings.Contains(c.noted, gone) {
				t.Errorf("got\n%s\nwant\n%s", after, before)
			}
			if strings.Contains(c.noted, "branch feature"+gone) {
				y.Sh(f.texts()[strings.LastIndex(f.texts(), "git branch"):])
				if all() != before {
					t.Errorf("what is told brings back\n%s", all())
				}
			}
			if got := y.Git("status", "--porcelain"); got != "" {
				t.Errorf("the user's checkout has %s", got)
			}
			if f := y.does("T2", "echo 2 > two").Finding; f.Outcome != attempts.Success || f.texts() != "" {
				t.Errorf("the next one: %s, %q", f.Outcome, f.texts())
			}
		})
	}
}

// Whatever the user does meanwhile stays done, and nobody is blamed for it.
func TestUserGoesOnWorking(t *testing.T) {
	t.Parallel()
	const commit = "echo u > u; git add u; git commit -qm mine; "
	for name, script := range map[string]string{
		"commits":                     commit,
		"commits and amends":          commit + "git commit -q --amend -m other",
		"resets":                      "git reset -q --hard HEAD~1",
		"another branch":              "git switch -q -c other; " + commit + "git switch -q main; git merge -q other; git branch -q -d other",
		"rebases":                     "git switch -q feature; git rebase -q main; git switch -q main",
		"renames":                     "git branch -m feature another",
		"renames what they are on":    "git branch -m main trunk",
		"moves a branch":              "git branch -q -f feature main",
		"another worktree":            "git worktree add -q ../theirs feature; cd ../theirs; " + commit,
		"takes in what has landed":    "git merge -q relay/20260101-lab",
		"by the branch alone":         "git branch -q -f feature relay/20260101-lab",
		"looks at what is under way":  "git merge -q relay-tasks/20260101-lab/T2",
		"a program without logs":      commit + "sed -i '$d' .git/logs/HEAD",
		"packs":                       "git pack-refs --all --prune; git gc -q",
		"tags":                        commit + "git tag v2; git tag -f v1 HEAD; git tag -a -m x v3",
		"keeps no logs":               commit + "rm -r .git/logs",
		"fetches to a branch of none": "git fetch -q . main:fetched",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYardLab(t)
			y.Sh("echo s >> seed.txt; git commit -qam s; git switch -q -c feature HEAD~1; echo f > f; git add f; git commit -qm f; git switch -q main; git tag v1")
			if err := y.l.refs.Begin(); err != nil {
				t.Fatal(err)
			}
			if got := y.step(y.proved("T1", "echo 1 > one")); got != "T1 success" {
				t.Fatal(got)
			}
			refs, user := filepath.Join(t.TempDir(), "refs"), filepath.Join(t.TempDir(), "user.sh")
			const look = "git for-each-ref 'refs/heads/[^r]*' refs/tags; git status --porcelain"
			text := "set -e; cd " + y.Root + "\n" + script + "\ncd " + y.Root + "; { " + look + "; } > " + refs
			if err := os.WriteFile(user, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			f := y.does("T2", "echo 2 > two; git add two; git commit -qm two; env -u GIT_CEILING_DIRECTORIES -u GIT_TRACE2_EVENT sh "+user).Finding
			if f.Outcome != attempts.Success || f.Gate != "" || strings.Contains(f.texts(), "put it back") || strings.Contains(f.texts(), "an agent") {
				t.Errorf("%s: %s; %q", f.Outcome, f.Receipt.ErrorSummary, f.texts())
			}
			if want, err := os.ReadFile(refs); err != nil || strings.TrimSpace(string(want)) != y.Sh(look) {
				t.Errorf("got\n%s\nwant\n%s, %v", y.Sh(look), want, err)
			}
		})
	}
}

// A branch that an agent has made is its own: nobody puts it back under its feet when a neighbour looks.
func TestAgentsGoOnWithTheirBranches(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	if err := y.l.refs.Begin(); err != nil {
		t.Fatal(err)
	}
	repo, err := y.l.yard.Site(t.Context(), "1", y.l.tips.Tip(), "relay-tasks/20260101-lab/T1")
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, script := range []string{"git switch -q -c side", "echo 1 > one; git add one; git commit -qm one", "echo 2 > two; git add two; git commit -qm two"} {
		y.Sh("cd " + repo.Root() + "; " + script)
		before := y.Git("rev-parse", "side")
		found, err := y.l.refs.Mend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			said += m.Text
		}
		if got := y.Git("rev-parse", "side"); got != before {
			t.Errorf("after %q it was put back", script)
		}
	}
	if want := "an agent has made the branch side: that stays, and relay does not land it"; said != want {
		t.Errorf("noted %q, want %q", said, want)
	}
}

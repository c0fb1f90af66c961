package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
)

// Agents may do with branches and tags what they like: those of the user stay where the user has them.
func TestBranchesAreTheUsers(t *testing.T) {
	t.Parallel()
	const commits = "echo x > x; git add x; git commit -qm x; "
	for name, script := range map[string]string{
		"merges to a branch":       "b=$(git branch --show-current); git checkout -q feature; git merge -q $b; git checkout -q $b",
		"and makes a merge":        "b=$(git branch --show-current); git checkout -q feature; git merge -q --no-ff -m m $b; git checkout -q $b",
		"moves the user's":         "git update-ref refs/heads/main HEAD",
		"pushes":                   "git push -q . +HEAD:feature",
		"on it in its slot":        "b=$(git branch --show-current); git checkout -q main; echo y > y; git add y; git commit -qm y; git checkout -q $b",
		"in a worktree of its own": "git worktree add -q ../../mine feature; cd ../../mine; echo y > y; git add y; git commit -qm y",
		"moves a tag":              "git tag -f v1 HEAD",
		"deletes a branch":         "git branch -q -D feature || git branch -q -D -r origin/feature",
		"deletes a tag":            "git tag -d v1",
		"makes some":               "git branch side; git tag v9",
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			y := newSlotLab(t)
			y.Sh("git switch -q -c feature; echo f > f; git add f; git commit -qm f; git switch -q main; git tag v1; git pack-refs --all")
			before := y.Git("for-each-ref", "refs/heads/main", "refs/heads/feature", "refs/tags", "refs/remotes")
			f := y.does("T1", commits+script).Result
			if f.Outcome != attempts.Success || f.Gate != "" || strings.Contains(texts(f.Notes), "put it back") {
				t.Errorf("%s, gate %q: %s, %q", f.Outcome, f.Gate, f.Receipt.ErrorSummary, texts(f.Notes))
			}
			if after := y.Git("for-each-ref", "refs/heads/main", "refs/heads/feature", "refs/tags", "refs/remotes"); after != before {
				t.Errorf("got\n%s\nwant\n%s", after, before)
			}
			if got := y.Git("status", "--porcelain"); got != "" {
				t.Errorf("the user's checkout has %s", got)
			}
			if f := y.does("T2", "echo 2 > two").Result; f.Outcome != attempts.Success || texts(f.Notes) != "" {
				t.Errorf("the next one: %s, %q", f.Outcome, texts(f.Notes))
			}
		})
	}
}

// The end of a run notes what went from the user's repository and checkout, which an agent may reach by their paths, with the way back.
func TestBranchesByPath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, noted string }{
		"deletes a branch": {"git branch -q -D feature", "feature in your repository is gone; if that was not you, there: git update-ref refs/heads/feature "},
		"deletes a tag":    {"git tag -d v1", "tags/v1 in your repository is gone; if that was not you, there: git update-ref refs/tags/v1 "},
		"moves a branch":   {"git branch -q -f feature HEAD", "feature in your repository went from FEATURE to MAIN; if that was not you, there: git update-ref refs/heads/feature "},
		"moves it on":      {"git branch -q -f old HEAD", ""},
		"resets":           {"git reset -q --hard HEAD~1", "main in your repository went from MAIN to OLD; if that was not you, there: git reset --keep "},
		"commits":          {"git commit -q --allow-empty -m mine", ""},
		"makes some":       {"git branch side; git tag v9", ""},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l := newLab(t, "true")
			l.Sh("git branch old; echo s >> seed.txt; git commit -qam s; git switch -q -c feature HEAD~1; echo f > f; git add f; git commit -qm f; git switch -q main; git tag v1; git pack-refs --all")
			y := l.inSlots(l.slotOptions())
			look := "git for-each-ref refs/heads/feature refs/tags/v1; git rev-parse main; git status --porcelain"
			before := y.Sh(look)
			c.noted = strings.NewReplacer("OLD", y.Git("rev-parse", "--short=12", "old"), "FEATURE", y.Git("rev-parse", "--short=12", "feature"), "MAIN", y.Git("rev-parse", "--short=12", "main")).Replace(c.noted)
			f := y.does("T1", "echo x > x; cd "+y.Root+"; env -u GIT_CEILING_DIRECTORIES sh -c '"+c.script+"'").Result
			notes, err := y.life.Lost(y.Context())
			if got := texts(notes); err != nil || f.Outcome != attempts.Success || texts(f.Notes) != "" || !strings.HasPrefix(got, c.noted) || c.noted == "" && got != "" {
				t.Errorf("%s: noted %q, want %q, %v", f.Outcome, got, c.noted, err)
			}
			if c.noted == "" {
				return
			}
			_, undo, _ := strings.Cut(texts(notes), "there: ")
			if y.Sh(undo); y.Sh(look) != before {
				t.Errorf("%s brings back\n%s", undo, y.Sh(look))
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
		"a program without logs":      commit + "sed -i '$d' .git/logs/HEAD",
		"packs":                       "git pack-refs --all --prune; git gc -q",
		"tags":                        commit + "git tag v2; git tag -f v1 HEAD; git tag -a -m x v3",
		"keeps no logs":               commit + "rm -r .git/logs",
		"fetches to a branch of none": "git fetch -q . main:fetched",
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			y := newSlotLab(t)
			y.Sh("echo s >> seed.txt; git commit -qam s; git switch -q -c feature HEAD~1; echo f > f; git add f; git commit -qm f; git switch -q main; git tag v1")
			if got := y.step(y.proved("T1", "echo 1 > one")); got != "T1 success" {
				t.Fatal(got)
			}
			refs, user := filepath.Join(t.TempDir(), "refs"), filepath.Join(t.TempDir(), "user.sh")
			const look = "git for-each-ref 'refs/heads/[^r]*' refs/tags; git status --porcelain"
			text := "set -e; cd " + y.Root + "\n" + script + "\ncd " + y.Root + "; { " + look + "; } > " + refs
			if err := os.WriteFile(user, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			f := y.does("T2", "echo 2 > two; git add two; git commit -qm two; env -u GIT_CEILING_DIRECTORIES sh "+user).Result
			if f.Outcome != attempts.Success || f.Gate != "" || strings.Contains(texts(f.Notes), "put it back") || strings.Contains(texts(f.Notes), "an agent") {
				t.Errorf("%s: %s; %q", f.Outcome, f.Receipt.ErrorSummary, texts(f.Notes))
			}
			if want, err := os.ReadFile(refs); err != nil || strings.TrimSpace(string(want)) != y.Sh(look) {
				t.Errorf("got\n%s\nwant\n%s, %v", y.Sh(look), want, err)
			}
		})
	}
}

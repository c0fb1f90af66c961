package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/reanchor"
)

const landed = "relay/20260101-lab"

// nightly is a repository in whose integration branch two tasks have landed: new.txt and deep/er.txt are there, and
// seed.txt has another line.
func nightly(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, "true")
	l.sh(`git switch -q -c ` + landed + `
		echo new > new.txt; mkdir deep; echo er > deep/er.txt; git add -A; git commit -q -m 'T1: One'
		echo line >> seed.txt; git commit -q -am 'T2: Two'
		git update-ref refs/relay-tip/20260101-lab HEAD
		git switch -q main`)
	return l
}

func (l *lab) plan(into string, mode Landing) (*Finish, error) {
	l.Helper()
	repo, err := reanchor.OpenGit(l.Context(), l.root)
	if err != nil {
		l.Fatal(err)
	}
	return PlanFinish(l.Context(), FinishOptions{Git: repo, Epic: &epic.Epic{ID: "20260101-lab", Title: "Lab"}, Into: into, Landing: mode})
}

// finish lands the night on a branch.
func (l *lab) finish(into string, mode Landing) *Finish {
	l.Helper()
	f, err := l.plan(into, mode)
	if err != nil {
		l.Fatal(err)
	}
	if err := f.Land(l.Context()); err != nil {
		l.Fatal(err)
	}
	if got := l.git("rev-parse", into); got != f.New {
		l.Errorf("%s is at %s, want %s", into, got, f.New)
	}
	return f
}

// state is everything a user could lose: branches, HEAD, index and files.
func (l *lab) state() string {
	return l.sh(`git for-each-ref; git symbolic-ref -q HEAD || git rev-parse HEAD; git ls-files -s; git status --porcelain --ignored; find . -path ./.git -prune -o -type f -exec cat {} +`)
}

func TestFinishFastForwards(t *testing.T) {
	t.Parallel()
	l := nightly(t)
	l.write("mine.txt", "mine")
	before := l.state()
	f := l.finish("main", LandingMerge)
	if f.How != FastForward || f.Commits != 2 || f.New != f.Tip || !f.Here {
		t.Errorf("got %+v", f)
	}
	l.wants(map[string]string{"new.txt": "new\n", "deep/er.txt": "er\n", "seed.txt": "seed\nline\n", "mine.txt": "mine"})
	if got := l.git("status", "--porcelain"); got != "?? mine.txt" {
		t.Errorf("status %q", got)
	}
	if got := l.git("reflog", "-1", "--format=%gs", "main"); !strings.HasPrefix(got, "relay finish: fast-forward of "+landed) {
		t.Errorf("reflog %q", got)
	}
	if again := l.finish("main", LandingMerge); again.How != NothingToLand || again.Commits != 0 {
		t.Errorf("a second time: %+v", again)
	}
	l.sh(f.Undo())
	if l.state() != before {
		t.Errorf("%s leaves\n%s\nwant\n%s", f.Undo(), l.state(), before)
	}
}

// The branch somebody else has checked out is moved by itself, and no file is touched.
func TestFinishMovesABranchThatIsNotCheckedOut(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]string{"another branch": "git switch -q -c other", "a detached HEAD": "git switch -q --detach"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := nightly(t)
			l.sh(away + "; echo edited > seed.txt; echo staged > s.txt; git add s.txt")
			files := l.sh("git status --porcelain=v2; cat seed.txt s.txt")
			f := l.finish("main", LandingMerge)
			if f.Here || f.How != FastForward {
				t.Errorf("got %+v", f)
			}
			if got := l.sh("git status --porcelain=v2; cat seed.txt s.txt"); got != files {
				t.Errorf("the checkout is now\n%s\nwant\n%s", got, files)
			}
			l.sh(f.Undo())
			if got := l.git("rev-parse", "main"); got != f.Old {
				t.Errorf("%s leaves main at %s, want %s", f.Undo(), got, f.Old)
			}
		})
	}
}

func TestFinishMergesWhatHasDiverged(t *testing.T) {
	t.Parallel()
	for _, away := range []string{"true", "git switch -q -c other"} {
		l := nightly(t)
		l.sh("echo mine > mine.txt; git add mine.txt; git commit -q -m Mine; " + away)
		f := l.finish("main", LandingMerge)
		if f.How != MergeCommit || f.Commits != 3 {
			t.Errorf("got %+v", f)
		}
		if got, want := l.git("show", "--no-patch", "--format=%P", "main"), f.Old+" "+f.Tip; got != want {
			t.Errorf("parents %s, want %s", got, want)
		}
		if got := l.git("show", "--no-patch", "--format=%B", "main"); !strings.HasPrefix(got, "Merge branch '"+landed+"' into main\n\nLab\n") || !strings.HasSuffix(got, "\nRelay-Epic: 20260101-lab") {
			t.Errorf("message %q", got)
		}
		if got, want := l.git("ls-tree", "-r", "--name-only", "main"), ".gitignore deep/er.txt mine.txt new.txt seed.txt tests/a.txt"; strings.Join(strings.Fields(got), " ") != want {
			t.Errorf("main has %s, want %s", got, want)
		}
		if got := l.git("status", "--porcelain"); got != "" {
			t.Errorf("status %q", got)
		}
	}
}

// Whatever is refused, nothing has changed, and what is said names the files and something to type.
func TestFinishRefuses(t *testing.T) {
	t.Parallel()
	const (
		stash = "git commit or git stash them, then relay finish"
		away  = "move them away, then relay finish"
		merge = "git merge " + landed + ", settle what git names there, git commit; nothing has been changed yet"
		clash = "main has changed since, and does not go together with " + landed + " in seed.txt"
	)
	for name, c := range map[string]struct{ before, into, reason, hint string }{
		"uncommitted change":     {"echo x >> tests/a.txt", "main", "this checkout has uncommitted changes: tests/a.txt", stash},
		"staged change":          {"echo x > y; git add y", "main", "this checkout has uncommitted changes: y", stash},
		"untracked in the way":   {"echo x > new.txt", "main", "untracked files of yours would be overwritten: new.txt", away},
		"ignored in the way":     {"mkdir -p .git/info deep; echo '*' > .git/info/exclude; echo x > deep/er.txt", "main", "untracked files of yours would be overwritten: deep/er.txt", away},
		"file for a folder":      {"echo x > deep", "main", "untracked files of yours would be overwritten: deep", away},
		"folder for a file":      {"mkdir -p new.txt/a; echo x > new.txt/a/b", "main", "untracked files of yours would be overwritten: new.txt/a/b", away},
		"repository in the way":  {"git init -q deep; git -C deep commit -q --allow-empty -m x", "main", "untracked files of yours would be overwritten: deep", away},
		"conflict":               {"echo other >> seed.txt; git commit -qam Mine", "main", clash, merge},
		"conflict elsewhere":     {"echo other >> seed.txt; git commit -qam Mine; git switch -q -c other", "main", clash, "git switch main && " + merge},
		"the tip has gone ahead": {"git branch -f " + landed + " " + landed + "~; echo other >> seed.txt; git commit -qam Mine", "main", clash, ", settle what git names there, git commit; nothing has been changed yet"},
		"merge half done": {"git switch -q -c other; echo a > a; git add a; git commit -qm a; git switch -q main; git merge -q --no-commit --no-ff other", "main",
			"a merge or rebase is half done in this checkout", "finish it, or git merge --abort or git rebase --abort; then relay finish"},
		"no such branch":       {"true", "nope", "there is no branch nope", "relay finish --into BRANCH names another; git branch nope " + landed + " makes it"},
		"a name for the shell": {"true", "a;b", "there is no branch a;b", "relay finish --into BRANCH names another; git branch 'a;b' " + landed + " makes it"},
		"itself":               {"true", landed, landed + " is the branch to be landed itself", "relay finish --into BRANCH names another"},
		"begun on no branch": {"true", "", "it is not known which branch " + landed + " belongs on: HEAD was detached when the epic began",
			"relay finish --into BRANCH names it; git branch NAME " + landed + " keeps the work under another name"},
		"never begun": {"git update-ref -d refs/relay-tip/20260101-lab; git branch -q -D " + landed, "main",
			"there is no branch " + landed + ": nothing of this epic was made in worktrees", "what was made in your checkout is on your branch: git log"},
		"checked out and locked": {"git switch -q -c other; git worktree add -q ../beside main; git worktree lock --reason why ../beside", "main",
			"main is checked out in TEMP/beside, another worktree of this repository", "git -C TEMP/beside merge " + landed},
		"being rebased beside": {"echo x > x; git add x; git commit -qm x; git worktree add -q ../beside -b other HEAD~; cd ../beside; echo y > x; git add x; git commit -qm y; git switch -q --ignore-other-worktrees main; ! git rebase -q other 2> /dev/null; cd ../work; git switch -q -c third", "main",
			"a rebase or bisection that began on main has not come to its end", "finish it, or git rebase --abort or git bisect reset; then relay finish"},
		"nothing in common": {"git switch -q --orphan new; git commit -q --allow-empty -m New; git branch -f main new; git switch -q main", "main",
			"main and " + landed + " have no commit in common", "git merge " + landed + " --allow-unrelated-histories, if that is what you want"},
		"checked out beside": {"git switch -q -c other; git worktree add -q ../beside main", "main",
			"main is checked out in TEMP/beside, another worktree of this repository", "git -C TEMP/beside merge " + landed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := nightly(t)
			l.sh(c.before)
			before := l.state()
			_, err := l.plan(c.into, LandingMerge)
			var refused *RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want a refusal", err)
			}
			plain := func(text string) string { return strings.ReplaceAll(text, filepath.Dir(l.root), "TEMP") }
			if plain(refused.Reason) != c.reason || !strings.HasSuffix(plain(refused.Hint), c.hint) {
				t.Errorf("%q, hint %q; want %q, %q", refused.Reason, refused.Hint, c.reason, c.hint)
			}
			if l.state() != before {
				t.Errorf("now\n%s\nwant\n%s", l.state(), before)
			}
		})
	}
}

// What a refusal says to type does it.
func TestFinishAfterWhatItSaidToType(t *testing.T) {
	t.Parallel()
	l := nightly(t)
	l.sh("git switch -q -c other; git worktree add -q ../beside main")
	_, err := l.plan("main", LandingMerge)
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	l.sh(refused.Hint)
	if f, err := l.plan("main", LandingMerge); err != nil || f.How != NothingToLand {
		t.Errorf("got %+v, %v", f, err)
	}
}

// What tasks of several commits landed with is closed by merges there. On the user's branch the commits stand in a row.
func TestFinishReplaysWhatHasDiverged(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	l.sh(`git branch ` + landed + `
		git switch -q --detach; git commit -q --allow-empty -m 'T1: empty'; for i in 1 2; do echo $i >> one.txt; git add -A; git commit -q -m "T1: $i"; done
		one=$(git commit-tree HEAD^{tree} -p ` + landed + ` -p HEAD -m 'Land T1'); git switch -q --detach $one
		GIT_AUTHOR_NAME=Agent git commit -q --allow-empty -m 'T2: One'; echo 2 > two.txt; git add -A; GIT_AUTHOR_NAME=Agent git commit -q -m 'T2: Two'
		git update-ref refs/relay-tip/20260101-lab HEAD
		git switch -q main; echo mine > mine.txt; git add -A; git commit -q -m Mine`)
	f := l.finish("main", LandingRebase)
	if f.How != Replay || f.Commits != 5 {
		t.Errorf("got %+v", f)
	}
	got, want := l.git("log", "--format=%s by %an", "main"), "T2: Two by Agent\nT2: One by Agent\nT1: 2 by Ada\nT1: 1 by Ada\nT1: empty by Ada\nMine by Ada\nBegin by Ada"
	want = strings.ReplaceAll(want, "Ada", firstOf(os.Getenv("GIT_AUTHOR_NAME"), "Ada"))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	l.wants(map[string]string{"one.txt": "1\n2\n", "two.txt": "2\n", "mine.txt": "mine\n"})
	if again := l.finish("main", LandingRebase); again.How != NothingToLand { // though the commits there are others
		t.Errorf("a second time: %+v", again)
	}
	l.sh(`git switch -q --detach refs/relay-tip/20260101-lab; echo 3 >> one.txt; git commit -q -am 'T3: Three'; git update-ref refs/relay-tip/20260101-lab HEAD; git switch -q main`)
	if later := l.finish("main", LandingRebase); later.How != Replay || later.Commits != 1 {
		t.Errorf("after another night: %+v", later)
	}
	l.sh(`git switch -q --detach refs/relay-tip/20260101-lab; git merge -q --no-edit -s ours main~3; echo 4 > four.txt; git add -A; git commit -q -m 'T4: Four'; git update-ref refs/relay-tip/20260101-lab HEAD; git switch -q main`)
	if merged := l.finish("main", LandingRebase); merged.How != MergeCommit {
		t.Errorf("a history with merges: %+v", merged)
	}
}

func TestFinishLeavesACheckoutAloneInWhichARunWorks(t *testing.T) {
	t.Parallel()
	l := nightly(t)
	f, err := l.plan("main", LandingMerge)
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(l.root, ".git", runLock+"20260102T220000Z-0000."+string(IsolationNone)+lockSuffix)
	run, err := attempts.Hold(lock, attempts.Self("20260102-other", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	before := l.state()
	var held *attempts.HeldError
	if err := f.Land(t.Context()); !errors.As(err, &held) || held.Holder.Epic != "20260102-other" {
		t.Errorf("got %v", err)
	}
	if l.state() != before {
		t.Errorf("now\n%s\nwant\n%s", l.state(), before)
	}
	if err := errors.Join(run.Release(), f.Land(t.Context())); err != nil {
		t.Errorf("when the run is over: %v", err)
	}
}

// Between the plan and the landing the user commits.
func TestFinishDoesNotTakeBackWhatWasCommittedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, away := range []string{"true", "git switch -q -c other"} {
		l := nightly(t)
		l.sh("echo mine > mine.txt; git add mine.txt; git commit -q -m Mine; " + away)
		f, err := l.plan("main", LandingMerge)
		if err != nil {
			t.Fatal(err)
		}
		l.sh(`git update-ref refs/heads/main $(git commit-tree -p main -m Later 'main^{tree}')`)
		before := l.state()
		var refused *RefusedError
		if err := f.Land(t.Context()); !errors.As(err, &refused) || *refused != (RefusedError{"main was moved by somebody else this moment", "type relay finish again"}) {
			t.Errorf("got %v", err)
		}
		if l.state() != before {
			t.Errorf("now\n%s\nwant\n%s", l.state(), before)
		}
	}
}

func TestFinishThatGitRefuses(t *testing.T) {
	t.Parallel()
	l := nightly(t)
	l.sh("git switch -q -c other")
	f, err := l.plan("main", LandingMerge)
	if err != nil {
		t.Fatal(err)
	}
	l.write(".git/refs/heads/main.lock", "")
	if err := f.Land(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "put main at "+f.New[:12]+": git update-ref: fatal: ") {
		t.Errorf("got %v", err)
	}
}

func TestRemoteOfABranch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ set, remote, branch, url string }{
		"the only one":        {"git remote add up /up", "up", "main", "/up"},
		"origin of two":       {"git remote add up /up; git remote add origin /o", "origin", "main", "/o"},
		"the branch's own":    {"git remote add up /up; git remote add origin /o; git config branch.main.remote up; git config branch.main.merge refs/heads/trunk", "up", "trunk", "/up"},
		"one for pushes":      {"git remote add up /up; git remote add origin /o; git config branch.main.remote origin; git config branch.main.merge refs/heads/trunk; git config remote.pushDefault up", "up", "main", "/up"},
		"a branch for itself": {"git remote add up /up; git config branch.main.remote .; git config branch.main.merge refs/heads/other", "up", "main", "/up"},
	} {
		l := nightly(t)
		l.sh(c.set)
		f, err := l.plan("main", LandingMerge)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := f.Remote(t.Context()); err != nil || r.Name != c.remote || r.Branch != c.branch || r.URLs[0] != c.url {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
	f, err := nightly(t).plan("main", LandingMerge)
	if err != nil {
		t.Fatal(err)
	}
	var refused *RefusedError
	if _, err := f.Remote(t.Context()); !errors.As(err, &refused) || *refused != (RefusedError{"there is no remote that main belongs to", "git remote add origin URL, then relay finish --pr"}) {
		t.Errorf("without a remote: %v", err)
	}
}

func TestPushTakesTheIntegrationBranchOnly(t *testing.T) {
	t.Parallel()
	l := nightly(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	l.sh("git init -q --bare " + bare + "; git remote add origin " + bare + "; git push -q origin main; git branch -f " + landed + " " + landed + "~")
	hook := filepath.Join(l.root, ".git", "hooks", "pre-push")
	l.write(".git/hooks/pre-push", "#!/bin/sh\necho ran > ../hook-ran\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := l.plan("main", LandingMerge)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second push finds everything there
		if err := f.Push(t.Context(), "origin"); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := l.sh("git ls-remote origin | sort -k2"), f.Old+"\trefs/heads/main\n"+f.Tip+"\trefs/heads/"+landed; got != want {
		t.Errorf("the remote has\n%s\nwant\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Join(l.root, "..", "hook-ran")); err != nil {
		t.Error("the hook did not run, which uploads large files")
	}
	l.sh(`git push -q -f origin $(git commit-tree -p main -m Foreign 'main^{tree}'):refs/heads/` + landed)
	var refused *RefusedError
	if err := f.Push(t.Context(), "origin"); !errors.As(err, &refused) || refused.Hint != "what git asks for can be answered when you type it: "+f.PushCommand("origin") {
		t.Errorf("over somebody else's commits: %v", err)
	}
}

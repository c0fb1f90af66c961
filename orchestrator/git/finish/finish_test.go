package finish

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/git/integration"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

func (l *lab) plan(into string, mode integration.Mode) (*Step, error) {
	l.Helper()
	repo, err := git.Open(l.Context(), l.Root)
	if err != nil {
		l.Fatal(err)
	}
	return Plan(l.Context(), Options{Git: repo, Epic: &epic.Epic{ID: "20260101-lab", Title: "Lab"}, Into: into, Landing: mode, Ledger: integration.LedgerView{Begun: true}})
}

// finish lands the night on a branch.
func (l *lab) finish(into string, mode integration.Mode) *Step {
	l.Helper()
	f, err := l.plan(into, mode)
	if err != nil {
		l.Fatal(err)
	}
	if err := f.Land(l.Context(), free); err != nil {
		l.Fatal(err)
	}
	if got := l.Git("rev-parse", into); got != f.New {
		l.Errorf("%s is at %s, want %s", into, got, f.New)
	}
	return f
}

// free is a checkout in which nobody works.
func free() error { return nil }

// state is everything a user could lose: branches, HEAD, index and files.
func (l *lab) state() string {
	return l.Sh(`git for-each-ref; git symbolic-ref -q HEAD || git rev-parse HEAD; git ls-files -s; git status --porcelain --ignored; find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cat`)
}

func TestFinishFastForwards(t *testing.T) {
	t.Parallel()
	l := &lab{repotest.NewLanded(t)}
	l.Write("mine.txt", "mine")
	l.Sh("git update-index --assume-unchanged seed.txt; git update-index --skip-worktree tests/a.txt; echo x >> tests/a.txt") // in nobody's way
	before := l.state()
	f := l.finish("main", integration.Merge)
	if f.How != FastForward || f.Commits != 2 || f.New != f.Tip || !f.Here {
		t.Errorf("got %+v", f)
	}
	l.Wants(map[string]string{"new.txt": "new\n", "deep/er.txt": "er\n", "seed.txt": "seed\nline\n", "mine.txt": "mine"})
	if got := l.Git("status", "--porcelain"); got != "?? mine.txt" {
		t.Errorf("status %q", got)
	}
	if got := l.Git("reflog", "-1", "--format=%gs", "main"); !strings.HasPrefix(got, "relay finish: fast-forward of "+repotest.Landed) {
		t.Errorf("reflog %q", got)
	}
	if again := l.finish("main", integration.Merge); again.How != NothingToLand || again.Commits != 0 {
		t.Errorf("a second time: %+v", again)
	}
	l.Sh(f.Undo())
	if l.state() != before {
		t.Errorf("%s leaves\n%s\nwant\n%s", f.Undo(), l.state(), before)
	}
}

// What the ledger of LedgerSync has beyond its commit stays, beside what the branch has added to it, each line once.
func TestFinishUnitesLedgers(t *testing.T) {
	t.Parallel()
	const relays = `{"id":"4f1e6a3c-7ad3-5a0f-9a0b-3f6f2f1b0c11","tags":["relay"]}`
	for name, c := range map[string]struct{ seed, branch, here, want, refused string }{
		"tracked, of relay":     {"0", "1", relays, "0 1 relay", ""},
		"tracked, a person's":   {"0", "1", `{"id":"9"}`, "0 1 9", ""},
		"tracked, the same":     {"0", "1", `{"id":"1"}`, "0 1", ""},
		"tracked, no entry":     {"0", "1", "half of", "", "uncommitted changes of yours would be overwritten: .ledgersync/ledger.jsonl"},
		"not in the branch":     {"0", "", relays, "0 relay", ""},
		"untracked":             {"", "1", relays, "1 relay", ""},
		"untracked, no entries": {"", "1", "half of", "", "untracked files of yours would be overwritten: .ledgersync/ledger.jsonl"},
	} {
		for _, ignored := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", ignored), func(t *testing.T) {
				slowtest.OneIn(t, 4)
				t.Parallel()
				l := &lab{repotest.NewLanded(t)}
				l.Sh(`add() { test -z "$1" || { mkdir -p .ledgersync; echo "{\"id\":\"$1\"}" >> .ledgersync/ledger.jsonl; git add -f .ledgersync/ledger.jsonl; git commit -q -m "Entry $1"; }; }
					add '` + c.seed + `'; git switch -q ` + repotest.Landed + `; git merge -q main; add '` + c.branch + `'; git update-ref refs/relay-tip/20260101-lab HEAD; git switch -q main; mkdir -p .ledgersync`)
				l.Sh(`echo '` + c.here + `' >> .ledgersync/ledger.jsonl`)
				if ignored {
					l.Write(".ledgersync/.gitignore", "*\n")
				}
				before := l.Sh("git status --porcelain --ignored; cat .ledgersync/*")
				f, err := l.plan("main", integration.Merge)
				if c.refused != "" {
					if refused, ok := errors.AsType[*attempts.RefusedError](err); !ok || refused.Reason != c.refused {
						t.Errorf("got %v, want %s", err, c.refused)
					}
					if after := l.Sh("git status --porcelain --ignored; cat .ledgersync/*"); after != before {
						t.Errorf("before\n%s\nafter\n%s", before, after)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Land(l.Context(), free); err != nil {
					t.Fatal(err)
				}
				got := strings.NewReplacer(relays, "relay", `{"id":"`, "", `"}`, "").Replace(l.Sh("cat .ledgersync/ledger.jsonl"))
				if got := strings.Join(strings.Fields(got), " "); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				if c.branch != "" {
					l.Git("diff", "--cached", "--exit-code")
				}
			})
		}
	}
}

// The branch somebody else has checked out is moved by itself, and no file is touched.
func TestFinishMovesABranchThatIsNotCheckedOut(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]string{"another branch": "git switch -q -c other", "a detached HEAD": "git switch -q --detach"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lab{repotest.NewLanded(t)}
			l.Sh(away + "; echo edited > seed.txt; echo staged > s.txt; git add s.txt")
			files := l.Sh("git status --porcelain=v2; cat seed.txt s.txt")
			f := l.finish("main", integration.Merge)
			if f.Here || f.How != FastForward {
				t.Errorf("got %+v", f)
			}
			if got := l.Sh("git status --porcelain=v2; cat seed.txt s.txt"); got != files {
				t.Errorf("the checkout is now\n%s\nwant\n%s", got, files)
			}
			l.Sh(f.Undo())
			if got := l.Git("rev-parse", "main"); got != f.Old {
				t.Errorf("%s leaves main at %s, want %s", f.Undo(), got, f.Old)
			}
		})
	}
}

func TestFinishMergesWhatHasDiverged(t *testing.T) {
	t.Parallel()
	for _, away := range []string{"true", "git switch -q -c other"} {
		l := &lab{repotest.NewLanded(t)}
		l.Sh("echo mine > mine.txt; git add mine.txt; git commit -q -m Mine; " + away)
		f := l.finish("main", integration.Merge)
		if f.How != MergeCommit || f.Commits != 3 {
			t.Errorf("got %+v", f)
		}
		if got, want := l.Git("show", "--no-patch", "--format=%P", "main"), f.Old+" "+f.Tip; got != want {
			t.Errorf("parents %s, want %s", got, want)
		}
		if got := l.Git("show", "--no-patch", "--format=%B", "main"); !strings.HasPrefix(got, "Merge branch '"+repotest.Landed+"' into main\n\nLab\n") || !strings.HasSuffix(got, "\nRelay-Epic: 20260101-lab") {
			t.Errorf("message %q", got)
		}
		if got, want := l.Git("ls-tree", "-r", "--name-only", "main"), ".gitignore deep/er.txt mine.txt new.txt seed.txt tests/a.txt"; strings.Join(strings.Fields(got), " ") != want {
			t.Errorf("main has %s, want %s", got, want)
		}
		if got := l.Git("status", "--porcelain"); got != "" {
			t.Errorf("status %q", got)
		}
	}
}

// A discussion that both the branch and the user have added to is not put together.
func TestFinishKeepsDiscussions(t *testing.T) {
	t.Parallel()
	const file, topic = ".ledger/entries/mine.yaml", "topic: Mine\n"
	for name, c := range map[string]struct{ branch, want, refused string }{
		"both":        {topic + "by: the branch\n", "", "uncommitted changes of yours would be overwritten: " + file},
		"only a user": {topic, topic + "by: a user\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lab{repotest.NewLanded(t)}
			l.Write(file, topic)
			l.Sh("git add -f " + file + "; git commit -q -m Discussed; git switch -q " + repotest.Landed + "; git merge -q main")
			l.Write(file, c.branch)
			l.Sh("git add -f " + file + "; git commit -q --allow-empty -m More; git update-ref refs/relay-tip/20260101-lab HEAD; git switch -q main")
			l.Write(file, topic+"by: a user\n")
			if _, err := l.plan("main", integration.Merge); c.refused != "" {
				if refused, ok := errors.AsType[*attempts.RefusedError](err); !ok || refused.Reason != c.refused {
					t.Errorf("got %v, want %s", err, c.refused)
				}
			} else {
				l.finish("main", integration.Merge)
				l.Wants(map[string]string{file: c.want})
			}
		})
	}
}

// What is uncommitted in files that the epic has not changed stays as it is, in the checkout and in the index.
func TestFinishBesideUncommittedChanges(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"straight": "true", "diverged": "echo mine > mine.txt; git add mine.txt; git commit -q -m Mine"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lab{repotest.NewLanded(t)}
			l.Sh(before + "; echo x >> tests/a.txt; echo y > y; git add y; echo z >> y")
			status, base := l.Sh("git status --porcelain=v2; cat tests/a.txt y"), l.Git("rev-parse", "main")
			f := l.finish("main", integration.Merge)
			if got := l.Sh("git status --porcelain=v2; cat tests/a.txt y"); got != status {
				t.Errorf("the checkout is now\n%s\nwant\n%s", got, status)
			}
			if got := l.Git("show", "main:new.txt"); got == "" || l.Sh("cat new.txt") != got {
				t.Errorf("new.txt is %q", got)
			}
			l.Sh(f.Undo())
			if got := l.Sh("cat tests/a.txt y"); !strings.HasSuffix(status, got) || l.Git("rev-parse", "main") != base {
				t.Errorf("%s leaves\n%s\nwant\n%s", f.Undo(), got, status)
			}
		})
	}
}

// Whatever is refused, nothing has changed, and what is said names the files and something to type.
func TestFinishRefuses(t *testing.T) {
	t.Parallel()
	const (
		stash = "git commit or git stash them, then relay finish"
		away  = "move them away, then relay finish"
		show  = "git update-index --no-assume-unchanged FILE, or --no-skip-worktree, shows them\ngit commit or git stash them, then relay finish"
		merge = "git merge " + repotest.Landed + ", resolve the conflicts, git commit; nothing has been changed yet"
		clash = "main has changed since, and conflicts with " + repotest.Landed + " in seed.txt"
	)
	for name, c := range map[string]struct{ before, into, reason, hint string }{
		"uncommitted change":     {"echo x >> seed.txt", "main", "uncommitted changes of yours would be overwritten: seed.txt", stash},
		"staged change":          {"echo x > new.txt; git add new.txt", "main", "uncommitted changes of yours would be overwritten: new.txt", stash},
		"staged for a folder":    {"echo x > deep; git add deep", "main", "uncommitted changes of yours would be overwritten: deep", stash},
		"renamed":                {"git mv seed.txt other.txt", "main", "uncommitted changes of yours would be overwritten: other.txt", stash},
		"untracked in the way":   {"echo x > new.txt", "main", "untracked files of yours would be overwritten: new.txt", away},
		"ignored in the way":     {"mkdir -p .git/info deep; echo '*' > .git/info/exclude; echo x > deep/er.txt", "main", "untracked files of yours would be overwritten: deep/er.txt", away},
		"file for a folder":      {"echo x > deep", "main", "untracked files of yours would be overwritten: deep", away},
		"folder for a file":      {"mkdir -p new.txt/a; echo x > new.txt/a/b", "main", "untracked files of yours would be overwritten: new.txt/a/b", away},
		"repository in the way":  {"git init -q deep; git -C deep commit -q --allow-empty -m x", "main", "untracked files of yours would be overwritten: deep", away},
		"conflict":               {"echo other >> seed.txt; git commit -qam Mine", "main", clash, merge},
		"conflict elsewhere":     {"echo other >> seed.txt; git commit -qam Mine; git switch -q -c other", "main", clash, "git switch main && " + merge},
		"the tip has gone ahead": {"git update-ref refs/relay-tip/20260101-lab $(git commit-tree -p " + repotest.Landed + " -m T3 " + repotest.Landed + "^{tree}); echo other >> seed.txt; git commit -qam Mine", "main", clash, ", resolve the conflicts, git commit; nothing has been changed yet"},
		"merge half done": {
			"git switch -q -c other; echo a > a; git add a; git commit -qm a; git switch -q main; git merge -q --no-commit --no-ff other", "main",
			"a merge, rebase or the like is half done in this checkout", "git status says how to finish it and how to abort it; then relay finish",
		},
		"checked out and gone": {
			"git switch -q -c other; git worktree add -q ../beside main; rm -rf ../beside", "main",
			"main is checked out in TEMP/beside, a worktree that is not there any more", "git worktree prune, then relay finish",
		},
		"stands for no branch": {"git symbolic-ref refs/heads/alias refs/remotes/origin/main", "alias", "alias stands for refs/remotes/origin/main, which is not a branch", "relay finish --into BRANCH names another"},
		"no such branch":       {"true", "nope", "there is no branch nope", "relay finish --into BRANCH names another"},
		"HEAD":                 {"true", "HEAD", "there is no branch HEAD", "relay finish --into BRANCH names another"},
		"another name of HEAD": {"true", "@", "there is no branch @", "relay finish --into BRANCH names another"},
		"a remote's":           {"git update-ref refs/remotes/origin/main main", "origin/main", "there is no branch origin/main", "relay finish --into BRANCH names another"},
		"no name of a branch":  {"true", "main~1", "there is no branch main~1", "relay finish --into BRANCH names another"},
		"an option":            {"true", "-x", "there is no branch -x", "relay finish --into BRANCH names another"},
		"a name for the shell": {"true", "a;b", "there is no branch a;b", "relay finish --into BRANCH names another"},
		"itself":               {"true", repotest.Landed, repotest.Landed + " is the branch to be landed itself", "relay finish --into BRANCH names another"},
		"begun on no branch": {
			"true", "", "it is not known which branch " + repotest.Landed + " belongs on: HEAD was detached when the epic began",
			"relay finish --into BRANCH names it\ngit branch NAME " + repotest.Landed + " keeps the work under another name",
		},
		"never begun": {
			"git update-ref -d refs/relay-tip/20260101-lab; git branch -q -D " + repotest.Landed, "main",
			"there is no branch " + repotest.Landed + ": nothing of this epic was made in worktrees", "relay work makes it\nwith isolation none the work is on your own branch\nrelay init --adopt relay/EPIC PLAN, if the ledger of an earlier day is gone",
		},
		"checked out and locked": {
			"git switch -q -c other; git worktree add -q ../beside main; git worktree lock --reason why ../beside", "main",
			"main is checked out in TEMP/beside, another worktree of this repository", "git -C TEMP/beside merge " + repotest.Landed,
		},
		"being rebased beside": {
			"echo x > x; git add x; git commit -qm x; git worktree add -q ../beside -b other HEAD~; cd ../beside; echo y > x; git add x; git commit -qm y; git switch -q --ignore-other-worktrees main; ! git rebase -q other 2> /dev/null; cd ../work; git switch -q -c third", "main",
			"a rebase or bisection that began on main has not come to its end", "finish it, or git rebase --abort or git bisect reset; then relay finish",
		},
		"nothing in common": {
			"git switch -q --orphan new; git commit -q --allow-empty -m New; git branch -f main new; git switch -q main", "main",
			"main and " + repotest.Landed + " have no commit in common", "git merge " + repotest.Landed + " --allow-unrelated-histories, if that is what you want",
		},
		"checked out beside": {
			"git switch -q -c other; git worktree add -q ../beside main", "main",
			"main is checked out in TEMP/beside, another worktree of this repository", "git -C TEMP/beside merge " + repotest.Landed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 5)
			t.Parallel()
			l := &lab{repotest.NewLanded(t)}
			l.Sh(c.before)
			before := l.state()
			_, err := l.plan(c.into, integration.Merge)
			var refused *attempts.RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want a refusal", err)
			}
			plain := func(text string) string { return strings.ReplaceAll(text, filepath.Dir(l.Root), "TEMP") }
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
	l := &lab{repotest.NewLanded(t)}
	l.Sh("git switch -q -c other; git worktree add -q ../beside main")
	_, err := l.plan("main", integration.Merge)
	var refused *attempts.RefusedError
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	l.Sh(refused.Hint)
	if f, err := l.plan("main", integration.Merge); err != nil || f.How != NothingToLand {
		t.Errorf("got %+v, %v", f, err)
	}
}

// What somebody has taken out of the branch is not landed without a word, and each of the two ways that are told works.
func TestFinishOfABranchThatWasTakenBack(t *testing.T) {
	t.Parallel()
	const told = "relay/x lacks commits that have landed on it: N; git update-ref refs/relay-tip/20260101-lab relay/x, then relay finish, lands it as it is\nBACK has it all again"
	for name, c := range map[string]struct{ taken, lacking, asItIs, all string }{
		"cut":         {"git branch -f " + repotest.Landed + " " + repotest.Landed + "~", "1", "new.txt", "new.txt seed.txt"},
		"cut here":    {"git switch -q " + repotest.Landed + "; git reset -q --hard HEAD~", "1", "new.txt", "new.txt seed.txt"},
		"made anew":   {"git switch -q " + repotest.Landed + "; git commit -q --amend -m Mine; git switch -q main", "1", "new.txt seed.txt", "new.txt seed.txt"},
		"to its base": {"git branch -f " + repotest.Landed + " main", "2", "", "new.txt seed.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for way := range 2 {
				l := &lab{repotest.NewLanded(t)}
				own := l.Git("rev-parse", repotest.Landed)
				l.Sh(c.taken)
				back := "git branch -f " + repotest.Landed + " " + own
				if l.Git("branch", "--show-current") == repotest.Landed {
					back = "git reset --keep " + own
				}
				_, err := l.plan("main", integration.Merge)
				var refused *attempts.RefusedError
				if !errors.As(err, &refused) {
					t.Fatalf("got %v", err)
				}
				plain := strings.NewReplacer(repotest.Landed, "relay/x", own, "HASH")
				said := plain.Replace(refused.Reason + "; " + refused.Hint)
				if want := strings.NewReplacer("N", c.lacking, "BACK", plain.Replace(back)).Replace(told); said != want {
					t.Errorf("it says %q, want %q", said, want)
				}
				base := l.Git("rev-parse", "main")
				l.Sh([]string{"git update-ref refs/relay-tip/20260101-lab " + repotest.Landed, back}[way])
				l.finish("main", integration.Merge)
				got := strings.Join(strings.Fields(l.Git("diff", "--name-only", base, "main", "--", "new.txt", "seed.txt")), " ")
				if want := []string{c.asItIs, c.all}[way]; got != want {
					t.Errorf("main has got %q, want %q", got, want)
				}
			}
		})
	}
}

// A branch that was looked at when more landed has not followed: nobody has taken anything out of it.
func TestFinishOfABranchThatWasLookedAt(t *testing.T) {
	t.Parallel()
	l := &lab{repotest.NewLanded(t)}
	l.Sh(`git update-ref refs/relay-tip/20260101-lab $(git commit-tree -p ` + repotest.Landed + ` -m T3 ` + repotest.Landed + `^{tree})`)
	if f := l.finish("main", integration.Merge); f.How != FastForward || f.Commits != 3 {
		t.Errorf("got %+v", f)
	}
}

// What somebody has put there by hand as other commits is there.
func TestFinishOfWhatIsThereAsOtherCommits(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]string{
		"squashed": "git merge -q --squash " + repotest.Landed + "; git commit -q -m All",
		"picked":   "git commit -q --allow-empty -m Mine; git cherry-pick main.." + repotest.Landed,
	} {
		for _, mode := range []integration.Mode{integration.Merge, integration.Rebase} {
			l := &lab{repotest.NewLanded(t)}
			l.Sh(put)
			before := l.state()
			if f := l.finish("main", mode); f.How != NothingToLand || f.New != f.Old {
				t.Errorf("%s, %s: %+v", name, mode, f)
			}
			if l.state() != before {
				t.Errorf("%s, %s: now\n%s\nwant\n%s", name, mode, l.state(), before)
			}
		}
	}
}

// What tasks of several commits landed with is closed by merges there. On the user's branch the commits stand in a row.
func TestFinishReplaysWhatHasDiverged(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.Sh(`git branch ` + repotest.Landed + `
		git switch -q --detach; git commit -q --allow-empty -m 'T1: empty'; for i in 1 2; do echo $i >> one.txt; git add -A; git commit -q -m "T1: $i"; done
		one=$(git commit-tree HEAD^{tree} -p ` + repotest.Landed + ` -p HEAD -m 'Land T1'); git switch -q --detach $one
		GIT_AUTHOR_NAME=Agent git commit -q --allow-empty -m 'T2: One'
		echo 2 > two.txt; git add -A; GIT_AUTHOR_NAME=Agent git commit -q -m 'T2: Two'
		git update-ref refs/relay-tip/20260101-lab HEAD
		git switch -q main; echo mine > mine.txt; git add -A; git commit -q -m Mine`)
	f := l.finish("main", integration.Rebase)
	if f.How != Replay || f.Commits != 5 {
		t.Errorf("got %+v", f)
	}
	got, want := l.Git("log", "--format=%s by %an", "main"), "T2: Two by Agent\nT2: One by Agent\nT1: 2 by Ada\nT1: 1 by Ada\nT1: empty by Ada\nMine by Ada\nBegin by Ada"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	l.Wants(map[string]string{"one.txt": "1\n2\n", "two.txt": "2\n", "mine.txt": "mine\n"})
	if again := l.finish("main", integration.Rebase); again.How != NothingToLand { // though the commits there are others
		t.Errorf("a second time: %+v", again)
	}
	l.Sh(`git switch -q --detach refs/relay-tip/20260101-lab; echo 3 >> one.txt; git commit -q -am 'T3: Three'; git update-ref refs/relay-tip/20260101-lab HEAD; git switch -q main`)
	if later := l.finish("main", integration.Rebase); later.How != Replay || later.Commits != 1 {
		t.Errorf("after another night: %+v", later)
	}
	l.Sh(`git switch -q --detach refs/relay-tip/20260101-lab; git merge -q --no-edit -s ours main~3; echo 4 > four.txt; git add -A; git commit -q -m 'T4: Four'; git update-ref refs/relay-tip/20260101-lab HEAD; git switch -q main`)
	if merged := l.finish("main", integration.Rebase); merged.How != MergeCommit {
		t.Errorf("a history with merges: %+v", merged)
	}
}

func TestFinishLeavesACheckoutAloneInWhichARunWorks(t *testing.T) {
	t.Parallel()
	l := &lab{repotest.NewLanded(t)}
	f, err := l.plan("main", integration.Merge)
	if err != nil {
		t.Fatal(err)
	}
	before, busy := l.state(), errors.New("somebody works there")
	if err := f.Land(t.Context(), func() error { return busy }); !errors.Is(err, busy) {
		t.Errorf("got %v", err)
	}
	if l.state() != before {
		t.Errorf("now\n%s\nwant\n%s", l.state(), before)
	}
	if err := f.Land(t.Context(), free); err != nil {
		t.Errorf("when the run is over: %v", err)
	}
}

// Between the plan and the landing the user commits.
func TestFinishDoesNotTakeBackWhatWasCommittedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, away := range []string{"true", "git switch -q -c other"} {
		l := &lab{repotest.NewLanded(t)}
		l.Sh("echo mine > mine.txt; git add mine.txt; git commit -q -m Mine; " + away)
		f, err := l.plan("main", integration.Merge)
		if err != nil {
			t.Fatal(err)
		}
		l.Sh(`git update-ref refs/heads/main $(git commit-tree -p main -m Later 'main^{tree}')`)
		before := l.state()
		var refused *attempts.RefusedError
		if err := f.Land(t.Context(), free); !errors.As(err, &refused) || *refused != (attempts.RefusedError{Reason: "main was moved by another process just now", Hint: "type relay finish again"}) {
			t.Errorf("got %v", err)
		}
		if l.state() != before {
			t.Errorf("now\n%s\nwant\n%s", l.state(), before)
		}
	}
}

func TestFinishThatGitRefuses(t *testing.T) {
	t.Parallel()
	l := &lab{repotest.NewLanded(t)}
	l.Sh("git switch -q -c other")
	f, err := l.plan("main", integration.Merge)
	if err != nil {
		t.Fatal(err)
	}
	l.Write(".git/refs/heads/main.lock", "")
	if err := f.Land(t.Context(), free); err == nil || !strings.HasPrefix(err.Error(), "put main at "+f.New[:12]+": git update-ref: fatal: ") {
		t.Errorf("got %v", err)
	}
}

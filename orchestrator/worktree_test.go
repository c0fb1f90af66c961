package orchestrator

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Whatever an attempt leaves, it is all in the commit, and none of it is left after the checkout is put back.
func TestLeftoversAreKeptAndRemoved(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.write("mine.txt", "mine\n")
	l.begin()
	base := l.git("rev-parse", "HEAD")
	names := []string{"-rf", "--force", "a\nb", `q"uo'te`, "\xff\xfe", ":(top)x", "deep/er/and/deeper/x", "sp ace/ t ab\t", "*.txt", "ünï"}
	for _, name := range names {
		l.write(name, "x")
	}
	l.sh(`ln -s tests linked; ln -s /nowhere dangling; rm seed.txt; echo b > tests/a.txt; mkfifo pipe; mkdir empty`)
	head := l.leftovers()
	kept := strings.Split(l.git("ls-tree", "-r", "--name-only", "-z", head), "\x00")
	for _, name := range append(names, "linked", "dangling") {
		if !slices.Contains(kept, name) {
			t.Errorf("%q is not kept", name)
		}
	}
	if slices.Contains(kept, "mine.txt") || slices.Contains(kept, "seed.txt") {
		t.Errorf("kept %q", kept)
	}
	l.restore(base)
	if got := l.git("status", "--porcelain"); got != "?? mine.txt" {
		t.Errorf("after it was put back: %s", got)
	}
	l.wants(map[string]string{"mine.txt": "mine\n", "seed.txt": "seed\n", "tests/a.txt": "a\n", "deep": "-"})
}

// What is the user's own stays where it is and out of relay's commits, whatever an agent does to have it committed.
func TestUsersFilesStay(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]string{
		"untouched":            `echo x > work.txt`,
		"staged":               `echo x > work.txt; git add -A`,
		"committed":            `echo x > work.txt; git add -A; git commit -q -m all`,
		"no longer ignored":    `echo x > work.txt; echo > .gitignore`,
		"committed by force":   `echo x > work.txt; echo > .gitignore; git add -A; git commit -q -m all`,
		"elsewhere":            `git checkout -q -b other; git add -A; git commit -q -m all; git checkout -q --detach`,
		"in the way of a file": `git add -A; git commit -q -m all; git rm -q --cached mine.txt; git commit -q -m less`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "")
			own := map[string]string{"mine.txt": "mine\n", "notes/a b": "note\n", ".env": "SECRET\n", "cache/big/x": "cached\n", "debug.log": "log\n"}
			for file, text := range own {
				l.write(file, text)
			}
			l.begin()
			base := l.git("rev-parse", "HEAD")
			l.sh(agent)
			before := l.git("rev-parse", "HEAD")
			head := l.leftovers()
			added := l.git("diff", "--name-only", "--diff-filter=A", before, head)
			if added != "" && added != "work.txt" {
				t.Errorf("relay itself committed %s", added)
			}
			l.wants(own)
			l.restore(base)
			l.wants(own)
			if got := l.git("symbolic-ref", "HEAD") + " " + l.git("rev-parse", "HEAD"); got != "refs/heads/main "+base {
				t.Errorf("HEAD is %s", got)
			}
			if got := l.git("status", "--porcelain"); got != "?? mine.txt\n?? notes/" {
				t.Errorf("status is %s", got)
			}
		})
	}
}

// A repository in the repository is no part of it: it is left, and told of.
func TestNestedRepositoriesStay(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]string{
		"without a commit": `git init -q inner; echo x > inner/x; echo x > work.txt`,
		"with one":         `git init -q inner; cd inner; echo x > x; git add x; git -c user.name=A -c user.email=a@b commit -q -m x; cd ..; echo x > work.txt`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "").begin()
			base := l.git("rev-parse", "HEAD")
			l.sh(agent)
			head := l.leftovers()
			if got := l.git("show", head+":work.txt"); got != "x" {
				t.Errorf("work.txt is %q", got)
			}
			l.restore(base)
			l.wants(map[string]string{"inner/x": "x\n", "work.txt": "-"})
			if !slices.Contains(l.c.tree.untold, "inner/") {
				t.Errorf("nobody is told: %q", l.c.tree.untold)
			}
			if again := l.leftovers(); again != base {
				t.Error("the next attempt would be given it")
			}
		})
	}
}

// A change that an agent hides from git is looked at; one that the user hides is left alone.
func TestHiddenChanges(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.write("config.txt", "shared\n")
	l.sh(`git add config.txt; git commit -q -m config; git update-index --assume-unchanged config.txt; echo local > config.txt`)
	l.begin()
	base := l.git("rev-parse", "HEAD")
	l.sh(`git update-index --skip-worktree tests/a.txt; git update-index --assume-unchanged seed.txt; echo cheat > tests/a.txt; echo cheat > seed.txt`)
	if got := l.git("diff", "--name-only", base, l.leftovers()); got != "seed.txt\ntests/a.txt" {
		t.Errorf("git sees %q", got)
	}
	l.restore(base)
	l.wants(map[string]string{"config.txt": "local\n", "tests/a.txt": "a\n", "seed.txt": "seed\n"})
}

func TestLockInTheWay(t *testing.T) {
	t.Parallel()
	l := newLab(t, "").begin()
	base := l.git("rev-parse", "HEAD")
	l.sh(`echo x > work.txt; touch .git/index.lock`)
	if head := l.leftovers(); head == base {
		t.Error("nothing was committed")
	}
	l.sh(`touch .git/index.lock .git/refs/heads/main.lock`)
	l.restore(base)
	l.wants(map[string]string{"work.txt": "-"})
}

// What an earlier run had noted is read back to the byte; a list that is not whole means that all is the user's.
func TestUntrackedListAfterACrash(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	names := []string{"caf\xe9", "a\nb", "-x", "dir/\xff"}
	for _, name := range names {
		l.write(name, "x")
	}
	l.begin()
	list := l.c.untrackedFile(l.c.o.Run)
	l.open("")
	l.write("left", "by the agent")
	if err := l.c.recall(t.Context(), l.c.untrackedFile(l.c.o.Run)); err != nil {
		t.Fatal(err)
	}
	if fresh, err := l.c.tree.untracked(t.Context()); err != nil || !slices.Equal(fresh, []string{"left"}) {
		t.Errorf("fresh are %q (%v), want what the agent left", fresh, err)
	}
	for name, cut := range []func() error{
		func() error { return os.Truncate(list, 5) },
		func() error { return os.Remove(list) },
	} {
		if err := cut(); err != nil {
			t.Fatal(err)
		}
		l.open("")
		if err := l.c.recall(t.Context(), l.c.untrackedFile(l.c.o.Run)); err != nil {
			t.Fatal(err)
		}
		if fresh, err := l.c.tree.untracked(t.Context()); err != nil || len(fresh) > 0 {
			t.Errorf("damage %d: fresh are %q (%v), want none", name, fresh, err)
		}
	}
}

package worktree

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/reanchor/git/repotest"
)

// Whatever an attempt leaves, it is all in the commit, and none of it is left after the checkout is put back.
func TestLeftoversAreKeptAndRemoved(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t)
	l.Write("mine.txt", "mine\n")
	l.begin()
	base := l.Git("rev-parse", "HEAD")
	names := []string{"-rf", "--force", "a\nb", `q"uo'te`, "\xff\xfe", ":(top)x", "deep/er/and/deeper/x", "sp ace/ t ab\t", "*.txt", "ünï"}
	for _, name := range names {
		l.Write(name, "x")
	}
	l.Sh(`ln -s tests linked; ln -s /nowhere dangling; rm seed.txt; echo b > tests/a.txt; mkfifo pipe; mkdir empty`)
	head := l.leftovers()
	kept := strings.Split(l.Git("ls-tree", "-r", "--name-only", "-z", head), "\x00")
	for _, name := range append(names, "linked", "dangling") {
		if !slices.Contains(kept, name) {
			t.Errorf("%q is not kept", name)
		}
	}
	if slices.Contains(kept, "mine.txt") || slices.Contains(kept, "seed.txt") {
		t.Errorf("kept %q", kept)
	}
	l.restore(base)
	if got := l.Git("status", "--porcelain"); got != "?? mine.txt" {
		t.Errorf("after it was put back: %s", got)
	}
	l.Wants(map[string]string{"mine.txt": "mine\n", "seed.txt": "seed\n", "tests/a.txt": "a\n", "deep": "-"})
}

// What an attempt has ignored is in no commit: it stays when its .gitignore goes, and is told.
func TestIgnoredStaysWhenItIsIgnoredNoMore(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t).begin()
	base := l.Git("rev-parse", "HEAD")
	l.Sh(`echo '*.db' >> .gitignore; echo precious > data.db; mkdir deep; echo precious > deep/more.db; echo one > one`)
	l.leftovers()
	l.Write("by-a-check", "x")
	l.restore(base)
	l.Wants(map[string]string{"data.db": "precious\n", "deep/more.db": "precious\n", "one": "-", "by-a-check": "-", ".gitignore": "*.log\ncache/\n.env\n"})
	if got := l.tree.Noted(); !slices.Equal(got, []string{"data.db", "deep/more.db"}) {
		t.Errorf("told of %q", got)
	}
}

// What is dropped for a full disk is large, or the largest of what makes room: never what is older, tracked or the user's.
func TestDropLarge(t *testing.T) {
	t.Parallel()
	const large, small = "head -c 100000 /dev/zero > ", "head -c 1000 /dev/zero > "
	for name, test := range map[string]struct {
		room int64
		want map[string]string
	}{
		"large files are enough": {room: 1, want: map[string]string{"big.log": "-", "new": "-", "code": "x\n"}},
		"the rest by its size":   {room: 200_500, want: map[string]string{"big.log": "-", "new": "-", "less": "-", "code": "x\n"}},
		"never enough":           {room: 1 << 30, want: map[string]string{"big.log": "-", "new": "-", "code": "x\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTreeLab(t)
			l.Write("mine", "mine\n")
			l.begin()
			l.Sh(large + `big.log; ` + large + `new; ` + small + `less; echo x > code; echo old > old; touch -d 1999-01-01 old; echo b > tests/a.txt`)
			said := DropLarge(l.Context(), l.tree, time.Now().Add(-time.Minute), test.room)
			if !strings.Contains(said, "relay removed ") || !strings.Contains(said, "new (less than 1 MiB)") {
				t.Errorf("it says %q", said)
			}
			l.Wants(test.want)
			l.Wants(map[string]string{"mine": "mine\n", "old": "old\n", "tests/a.txt": "b\n"})
			if said := DropLarge(l.Context(), l.tree, time.Now().Add(time.Minute), test.room); said != "" {
				t.Errorf("without a file it says %q", said)
			}
		})
	}
}

// What relay commits is in UTF-8 and says so, whatever the user's own commits are in.
func TestLeftoversHaveTheirEncoding(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t).begin()
	l.Git("config", "i18n.commitEncoding", "ISO-8859-1")
	l.Write("new.txt", "x")
	head := repotest.Want[string](t)(l.tree.CommitLeftovers(t.Context(), "T1: Fünf\n", nil))
	if got := l.Git("-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--format=%s [%e]", head); got != "T1: Fünf []" {
		t.Errorf("the commit is %s", got)
	}
}

// What an attempt does outside a sparse checkout is in the commit like all else.
func TestLeftoversOfASparseCheckout(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t)
	l.Sh(`git sparse-checkout set --no-cone /seed.txt`)
	l.begin()
	base := l.Git("rev-parse", "HEAD")
	l.Sh(`mkdir tests; echo b > tests/a.txt; echo new > tests/new; echo in > seed.txt`)
	if got := l.Git("diff", "--name-only", base, l.leftovers()); got != "seed.txt\ntests/a.txt\ntests/new" || len(l.tree.Outside()) > 0 {
		t.Errorf("committed are %q, left %q", got, l.tree.Outside())
	}
	l.restore(base)
	if got := l.Git("status", "--porcelain"); got != "" {
		t.Errorf("after it was put back: %s", got)
	}
	l.Wants(map[string]string{"seed.txt": "seed\n", "tests": "-"})
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
			l := newTreeLab(t)
			own := map[string]string{"mine.txt": "mine\n", "notes/a b": "note\n", ".env": "SECRET\n", "cache/big/x": "cached\n", "debug.log": "log\n"}
			for file, text := range own {
				l.Write(file, text)
			}
			l.begin()
			base := l.Git("rev-parse", "HEAD")
			l.Sh(agent)
			before := l.Git("rev-parse", "HEAD")
			head := l.leftovers()
			added := l.Git("diff", "--name-only", "--diff-filter=A", before, head)
			if added != "" && added != "work.txt" {
				t.Errorf("relay itself committed %s", added)
			}
			l.Wants(own)
			l.restore(base)
			l.Wants(own)
			if got := l.Git("symbolic-ref", "HEAD") + " " + l.Git("rev-parse", "HEAD"); got != "refs/heads/main "+base {
				t.Errorf("HEAD is %s", got)
			}
			if got := l.Git("status", "--porcelain"); got != "?? mine.txt\n?? notes/" {
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
			l := newTreeLab(t).begin()
			base := l.Git("rev-parse", "HEAD")
			l.Sh(agent)
			head := l.leftovers()
			if got := l.Git("show", head+":work.txt"); got != "x" {
				t.Errorf("work.txt is %q", got)
			}
			l.restore(base)
			l.Wants(map[string]string{"inner/x": "x\n", "work.txt": "-"})
			if !slices.Contains(l.tree.unreported, "inner/") {
				t.Errorf("nobody is told: %q", l.tree.unreported)
			}
			if again := l.leftovers(); again != base {
				t.Error("the next attempt would be given it")
			}
		})
	}
}

// Whatever git refuses, the rest is committed, and it is left where it is.
func TestWhatGitDoesNotTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ agent, outside, untaken string }{
		"empty repositories": {`git init -q a; git init -q b`, "a/ b/", ""},
		"names":              {`mkdir .GIT; echo x > .GIT/a; echo x > 'git~1'`, ".GIT/a git~1", ""},
		"unreadable":         {`echo x > a; echo x > b; chmod 0 a b seed.txt`, "", ""},
		"a submodule, and a pipe": {`git init -q sub; git -C sub -c user.name=a -c user.email=a commit -q --allow-empty -m one; git add sub; git commit -qm sub
			git -C sub -c user.name=a -c user.email=a commit -q --allow-empty -m two; rm seed.txt; mkfifo seed.txt`, "", "seed.txt"},
		"a link for a folder, and a pipe": {`mkdir .git/away; mv tests .git/away; ln -s .git/away/tests tests; rm seed.txt; mkfifo seed.txt`, "", "seed.txt"},
		"pipe for a file":                 {`rm seed.txt; mkfifo seed.txt`, "", "seed.txt"},
		"pipes, and other files":          {`rm seed.txt tests/a.txt; mkfifo seed.txt tests/a.txt; git init -q a; echo x > 'git~1'; echo x >> .gitignore`, "a/ git~1", "seed.txt tests/a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTreeLab(t).begin()
			l.Sh(c.agent + "; echo x > work.txt")
			head := l.leftovers()
			if got := l.Git("show", head+":work.txt"); got != "x" {
				t.Errorf("work.txt is %q", got)
			}
			if got := strings.Join(l.tree.Outside(), " "); got != c.outside {
				t.Errorf("outside are %q, want %q", got, c.outside)
			}
			if got := strings.Join(l.tree.Untaken(), " "); got != c.untaken {
				t.Errorf("untaken are %q, want %q", got, c.untaken)
			}
			if got := l.Git("ls-tree", "-r", "--name-only", head, "tests"); strings.Contains(name, "a link") && got != "tests" {
				t.Errorf("of the folder are committed %q", got)
			}
			if l.There("sub") && l.Git("rev-parse", head+":sub") != l.Git("-C", "sub", "rev-parse", "HEAD") {
				t.Error("what the submodule is at is not committed")
			}
		})
	}
}

// However many files there are beside the ones that git refuses, it runs a few times.
func TestRefusalAmongManyFiles(t *testing.T) {
	traces := t.TempDir()
	t.Setenv("GIT_TRACE2_EVENT", traces)
	l := newTreeLab(t).begin()
	l.Sh(`git config filter.nb.clean false; git config filter.nb.required true; echo '*.nb filter=nb' > .gitattributes
		echo bad > b.nb; echo x > 'git~1'; for i in $(seq 200); do echo $i > w$i; done; rm seed.txt; mkfifo seed.txt`)
	before := len(repotest.Want[[]os.DirEntry](t)(os.ReadDir(traces)))
	head := l.leftovers()
	if runs := len(repotest.Want[[]os.DirEntry](t)(os.ReadDir(traces))) - before; runs > 100 {
		t.Errorf("git ran %d times", runs)
	}
	if got := strings.Fields(l.Git("ls-tree", "--name-only", head)); len(got) != 205 {
		t.Errorf("committed are %q", got)
	}
	if !slices.Equal(l.tree.Outside(), []string{"git~1"}) || !slices.Equal(l.tree.Untaken(), []string{"seed.txt"}) || l.tree.Refused()["b.nb"] == nil {
		t.Errorf("outside %q, untaken %q, refused %v", l.tree.Outside(), l.tree.Untaken(), l.tree.Refused())
	}
}

// What a filter or an encoding refuses is committed as it is with all else, told, and put back like all else.
func TestWhatFiltersRefuse(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t)
	l.Sh(`git config filter.nb.clean 'grep ^good'; git config filter.nb.smudge cat; git config filter.nb.required true
		printf '*.nb filter=nb\n*.utf working-tree-encoding=UTF-16LE\n' > .gitattributes; echo good > old.nb; touch -d '1 minute ago' old.nb; git add -A; git commit -qm nb`)
	l.begin()
	base := l.Git("rev-parse", "HEAD")
	l.Sh(`echo evil > old.nb; echo bad > 'n b.nb'; echo good > fine.nb; printf a > odd.utf; chmod +x odd.utf; for i in $(seq 30); do echo $i > w$i; done; rm seed.txt; mkdir .GIT; echo x > .GIT/a`)
	head := l.leftovers()
	if got := l.leftovers(); got != head {
		t.Errorf("committed again: %s", l.Git("show", "--stat", got))
	}
	if got := l.Git("show", head+":old.nb") + l.Git("show", head+":n b.nb") + l.Git("show", head+":odd.utf") + l.Git("show", head+":w17"); got != "evilbada17" {
		t.Errorf("committed are %q", got)
	}
	if got := l.Git("diff", "--name-only", base, head); strings.Count(got, "\n") != 34 || l.Git("log", "-1", "--format=%B", head) != "T1: One" {
		t.Errorf("committed are %s", got)
	}
	if got := slices.Sorted(maps.Keys(l.tree.Refused())); !slices.Equal(got, []string{"n b.nb", "odd.utf", "old.nb"}) || !slices.Equal(l.tree.Outside(), []string{".GIT/a"}) || len(l.tree.Untaken()) > 0 {
		t.Errorf("refused are %q, outside %q, untaken %q", got, l.tree.Outside(), l.tree.Untaken())
	}
	l.restore(base)
	if got := l.Git("status", "--porcelain"); got != "?? .GIT/" {
		t.Errorf("after it was put back: %s", got)
	}
}

// When the repository takes nothing, nothing is taken for work that could be left.
func TestRepositoryThatTakesNothing(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t).begin()
	l.Sh(`echo one > a; echo two > b; git repack -adq; rm -rf .git/objects/??; for d in $(seq 0 255); do echo > .git/objects/$(printf %02x $d); done`)
	if _, err := l.tree.CommitLeftovers(t.Context(), "T1: One\n", nil); err == nil || len(l.tree.Outside()) > 0 {
		t.Errorf("got %v, left %q", err, l.tree.Outside())
	}
}

// A change that an agent hides from git is looked at; one that the user hides is left alone.
func TestHiddenChanges(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t)
	l.Write("config.txt", "shared\n")
	l.Sh(`git add config.txt; git commit -q -m config; git update-index --assume-unchanged config.txt; echo local > config.txt`)
	l.begin()
	base := l.Git("rev-parse", "HEAD")
	l.Sh(`git update-index --skip-worktree tests/a.txt; git update-index --assume-unchanged seed.txt; echo cheat > tests/a.txt; echo cheat > seed.txt`)
	if got := l.Git("diff", "--name-only", base, l.leftovers()); got != "seed.txt\ntests/a.txt" {
		t.Errorf("git sees %q", got)
	}
	l.restore(base)
	l.Wants(map[string]string{"config.txt": "local\n", "tests/a.txt": "a\n", "seed.txt": "seed\n"})
}

func TestLockInTheWay(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t).begin()
	base := l.Git("rev-parse", "HEAD")
	l.Sh(`echo x > work.txt; touch .git/index.lock`)
	if head := l.leftovers(); head == base {
		t.Error("nothing was committed")
	}
	l.Sh(`touch .git/index.lock .git/refs/heads/main.lock`)
	l.restore(base)
	l.Wants(map[string]string{"work.txt": "-"})
}

// A lock that a user's git may hold this moment stays; one that nobody can hold any more goes.
func TestLocksOfOthers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"config": true, "packed-refs": true, "refs/heads/main": true} {
		l := newTreeLab(t).begin()
		lock := ".git/" + name + ".lock"
		l.Write(lock, "")
		l.Sh("touch -d '1 hour' " + lock) // it is young however long this takes
		if err := l.tree.Runner().Unlock(); err != nil || l.There(lock) != want {
			t.Errorf("%s: there %v, want %v, %v", lock, l.There(lock), want, err)
		}
		l.Sh("mkdir -p .git/refs/heads; touch -d '1 minute ago' " + lock)
		if err := l.tree.Runner().Unlock(); err != nil || l.There(lock) {
			t.Errorf("%s is there after a minute: %v", lock, err)
		}
	}
}

// What an earlier run had noted is read back to the byte; a list that is not whole means that all is the user's.
func TestUntrackedListAfterACrash(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t)
	names := []string{"caf\xe9", "a\nb", "-x", "dir/\xff"}
	for _, name := range names {
		l.Write(name, "x")
	}
	l.begin()
	list := filepath.Join(l.TempDir(), "untracked")
	if err := l.tree.User.Save(list); err != nil {
		t.Fatal(err)
	}
	l.begin()
	l.reopen()
	l.Write("left", "by the agent")
	if err := l.tree.User.Load(t.Context(), l.tree.Runner(), list); err != nil {
		t.Fatal(err)
	}
	if fresh, err := untracked(t.Context(), l.tree); err != nil || !slices.Equal(fresh, []string{"left"}) {
		t.Errorf("fresh are %q (%v), want what the agent left", fresh, err)
	}
	for name, cut := range []func() error{
		func() error { return os.Truncate(list, 5) },
		func() error { return os.Remove(list) },
	} {
		if err := cut(); err != nil {
			t.Fatal(err)
		}
		l.reopen()
		if err := l.tree.User.Load(t.Context(), l.tree.Runner(), list); err != nil {
			t.Fatal(err)
		}
		if fresh, err := untracked(t.Context(), l.tree); err != nil || len(fresh) > 0 {
			t.Errorf("damage %d: fresh are %q (%v), want none", name, fresh, err)
		}
	}
}

// A name for what is kept may be taken by what has nothing to do with it: that is not overwritten.
func TestSalvage(t *testing.T) {
	t.Parallel()
	const ref = "refs/relay/e/T1/1"
	for name, c := range map[string]struct{ before, aside string }{
		"free":             {"true", ""},
		"the same":         {"git update-ref " + ref + " $work", ""},
		"below it":         {"git update-ref " + ref + " HEAD", ""},
		"another":          {"git update-ref " + ref + " $other", "other"},
		"another's name":   {"git symbolic-ref " + ref + " refs/heads/theirs", "other"},
		"leads to nothing": {"git symbolic-ref " + ref + " refs/heads/nothing", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTreeLab(t)
			work, other := l.Sh("git commit-tree -p HEAD -m Work 'HEAD^{tree}'"), l.Sh("git commit-tree -p HEAD -m Other 'HEAD^{tree}'")
			l.Sh("git branch theirs " + other + "; work=" + work + "; other=" + other + "; " + c.before)
			aside, err := l.tree.Salvage(t.Context(), ref, work)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Git("rev-parse", ref); got != work || l.Git("rev-parse", "theirs") != other {
				t.Errorf("it is kept as %s, want %s; theirs is at %s", got, work, l.Git("rev-parse", "theirs"))
			}
			want := strings.Replace(c.aside, "other", "refs/relay-moved/"+other, 1)
			if aside != want || want != "" && l.Git("rev-parse", want) != other {
				t.Errorf("what was there is kept as %q, want %q", aside, want)
			}
		})
	}
}

package slot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/epic/slowtest"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git/repotest"
)

// newPool is a yard in a repository of two commits, tagged one and two.
func newPool(t *testing.T, options ...string) (*lab, *Pool) {
	t.Helper()
	l := &lab{Repo: repotest.New(t, options...)}
	l.Sh(`mkdir -p d/e; seq 9 > d/e/f; echo x > run; chmod +x run; ln -s run link; echo 'ign*' >> .gitignore; git add -A; git commit -q -m One; git tag one
		git rm -q -r d; echo d > d; echo p > run; echo n > n; git add -A; git commit -q -m Two; git tag two`)
	return l, NewPool(l.Open(), filepath.Join(l.Root, ".agents-os", "relay", "worktrees"))
}

// is compares a worktree with a commit: its files with their modes, its index, its HEAD, and what else is there.
func (l *lab) is(path, commit, branch string) {
	l.Helper()
	in := func(script string) string { return l.Sh("cd '" + path + "'; " + script) }
	if got := in(`git status --porcelain --ignored --untracked-files=all; git ls-files -v | grep -v '^H' || true; git rev-parse HEAD`); got != l.Git("rev-parse", commit) {
		l.Errorf("the worktree is not as it should be: %s", got)
	}
	if got := in(`git symbolic-ref --quiet HEAD || true`); got != branch {
		l.Errorf("it is on %q, want %q", got, branch)
	}
	fresh := filepath.Join(l.TempDir(), "fresh")
	l.Git("worktree", "add", "-q", "--detach", fresh, commit)
	defer l.Git("worktree", "remove", "--force", fresh)
	list := `find . -path ./.git -prune -o -printf '%p %p %m %l\n' | LC_ALL=C sort; find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 cat`
	if got, want := in(list), l.Sh("cd '"+fresh+"'; "+list); got != want {
		l.Errorf("it has\n%s\nwant\n%s", got, want)
	}
	if got := in(`ls -A .git .git/refs .git/info .git/objects | grep -vxE 'HEAD|config|description|index|logs|info|relay-index|relay-slot|packed-refs|objects|refs|heads|tags|remotes|alternates|exclude|attributes|sparse-checkout|shallow|[0-9a-f][0-9a-f]|pack|.*:|' || true`); got != "" {
		l.Errorf("git still keeps %s", got)
	}
}

func (l *lab) site(p *Pool, name, commit, branch string) string {
	l.Helper()
	repo, err := p.Acquire(l.Context(), name, l.Git("rev-parse", commit+"^{commit}"), branch)
	if err != nil {
		l.Fatal(err)
	}
	if want := filepath.Join(p.folder.path, name); repo.Root() != want {
		l.Errorf("it is at %s, want %s", repo.Root(), want)
	}
	head, err := repo.Head(l.Context())
	if err != nil || head != l.Git("rev-parse", commit+"^{commit}") {
		l.Errorf("its head is %s (%v)", head, err)
	}
	return repo.Root()
}

// agents are what agents leave in a worktree of commit one. Each is followed by another site at another commit.
var leftByAgents = map[string]string{
	"nothing":     `true`,
	"work":        `echo x >> run; echo new > new; mkdir -p a/b; touch a/b/c ignored; git add -A; echo p >> run`,
	"commits":     `echo x >> run; git commit -q -a -m work; git checkout -q -b elsewhere; git commit -q --allow-empty -m more`,
	"a conflict":  `git checkout -q -b o; echo o > run; git commit -qam o; git checkout -q -B p one; echo p > run; git commit -qam p; git merge o || true`,
	"a rebase":    `git checkout -q -b o; echo o > run; git commit -qam o; git checkout -q -B p one; echo p > run; git commit -qam p; git rebase o || true`,
	"a bisection": `git bisect start -q one one~1 >/dev/null || true`,
	"locks":       `d=$(git rev-parse --git-dir); touch $d/index.lock $d/HEAD.lock $d/config.worktree.lock`,
	"flags":       `git update-index --assume-unchanged run; git update-index --skip-worktree d/e/f; echo hidden > run; echo hidden > d/e/f`,
	"same times": `at=$(stat -c %Y run); while [ "$(date +%s)" = "$at" ]; do :; done; touch "$(git rev-parse --git-dir)/relay-index"
		cp -p run ../old; echo z > run; touch -r ../old run; rm ../old; git config core.trustctime false`,
	"modes":                `chmod 0 run; chmod 500 d/e; chmod 0 d; mkdir -p locked/in; touch locked/in/x; chmod 0 locked/in locked`,
	"nested repositories":  `git init -q inner; touch inner/x; git init -q d/e/g; (cd d/e/g; git -c user.name=a -c user.email=b commit -q --allow-empty -m x); git init -q ignored.d; git init -q --bare bare`,
	"links":                `rm -rf d; ln -s /etc d; rm run; ln -s /nowhere run; ln -s . loop`,
	"folder for a file":    `rm run; mkdir run; touch run/x`,
	"pipes":                `mkfifo pipe; rm run; mkfifo run; d=$(git rev-parse --git-dir); mkfifo $d/MERGE_HEAD; mkfifo $d/BISECT_LOG`,
	"no .git":              `rm -rf .git`,
	"another .git":         `rm -rf .git; git init -q .; git add -A; git -c user.name=a -c user.email=b commit -q -m x`,
	"the user's .git":      `rm -rf .git; echo "gitdir: $PWD/../../../../.git" > .git`,
	"a pipe for .git":      `rm -rf .git; mkfifo .git`,
	"everything":           `rm -rf "$PWD"`,
	"its parents":          `p=$(cd ../..; pwd); cd /; rm -rf "$p"`,
	"a link for it":        `d=$PWD; cd ..; rm -rf "$d"; ln -s ../../../../precious "$d"`,
	"no objects":           `rm -rf .git/objects`,
	"no alternates":        `rm .git/objects/info/alternates`,
	"empty objects":        `echo x > x; git add x; git commit -q -m x; for o in .git/objects/??/*; do chmod u+w $o; : > $o; done`,
	"empty refs":           `: > .git/refs/heads/relay-tasks/lab/T1; : > .git/packed-refs`,
	"wrong common":         `git init -q $PWD/evil; echo $PWD/evil/.git > .git/commondir`,
	"the user's common":    `echo $PWD/../../../../.git > .git/commondir`,
	"the user's refs":      `rm -rf .git/refs; ln -s $PWD/../../../../.git/refs .git/refs`,
	"the user's by a link": `rm -rf .git; ln -s $PWD/../../../../.git .git`,
	"a filter":             `git config filter.evil.smudge 'echo evil'; git config filter.evil.clean 'echo evil'; echo '* filter=evil' > .git/info/attributes`,
	"HEAD garbage":         `echo garbage > "$(git rev-parse --git-dir)/HEAD"`,
	"HEAD a pipe":          `d=$(git rev-parse --git-dir); rm $d/HEAD; mkfifo $d/HEAD`,
	"HEAD unborn":          `git checkout -q --orphan new`,
	"index garbage":        `echo garbage > "$(git rev-parse --git-dir)/index"`,
	"index gone":           `rm "$(git rev-parse --git-dir)/index"`,
	"index by another":     `cp ../../../../.git/index .git/index`,
	"relay's index":        `d=$(git rev-parse --git-dir); echo z > run; git update-index --skip-worktree run; rm $d/relay-index; cp -p $d/index $d/relay-index`,
	"split index":          `git update-index --split-index`,
	"configuration":        `git config extensions.worktreeConfig true; git config --worktree core.worktree /nowhere; git config --worktree core.sparseCheckout true`,
	"sparse":               `git sparse-checkout set --no-cone /run`,
	"ignores all":          `echo '*' > .gitignore; git config core.excludesFile "$PWD/.gitignore"; touch x`,
	"attributes":           `echo 'run text eol=crlf' > .gitattributes`,
	"other attributes":     `echo 'run text eol=crlf' > .gitattributes; git add .gitattributes; git commit -q -m a; git tag attributes`,
	"a hook":               `d=$(git rev-parse --git-common-dir)/hooks; mkdir -p $d; printf '#!/bin/sh\ntouch hooked; exit 1\n' > $d/post-checkout; chmod +x $d/post-checkout`,
	"per-worktree refs":    `git update-ref refs/worktree/x HEAD; git update-ref refs/bisect/bad HEAD`,
	"its branch locked":    `touch -d '1 minute ago' "$(git rev-parse --git-common-dir)/refs/heads/relay-tasks/lab/T1.lock"; git branch relay-tasks/lab/T2; touch -d '1 minute ago' "$(git rev-parse --git-common-dir)/refs/heads/relay-tasks/lab/T2.lock"`,
	"a stale branch":       `git branch -f relay-tasks/lab/T2 HEAD~1`,
	"branch made a folder": `git branch relay-tasks/lab/T2/x; git branch -D -q relay-tasks/lab/T2/x`,
	"submodule filled":     `git init -q s; (cd s; git -c user.name=a -c user.email=b commit -q --allow-empty -m x); git add s 2>/dev/null; git commit -q -m s; git branch -f sub`,
}

// goneWithIt are those of them that leave nothing.
var goneWithIt = []string{"everything", "its parents", "a link for it"}

func TestSlotIsExactlyItsCommit(t *testing.T) {
	t.Parallel()
	for name, agent := range leftByAgents {
		for _, next := range []string{"one", "two"} {
			t.Run(name+", then "+next, func(t *testing.T) {
				slowtest.OneIn(t, 24)
				t.Parallel()
				exactly(t, agent, next)
			})
		}
	}
}

// exactly has an agent leave a worktree that is used again, for the same commit or another one.
func exactly(t *testing.T, agent, next string) {
	t.Helper()
	l, p := newPool(t)
	l.Write("precious/run", "p\n")
	before := l.Sh(`git status --porcelain; cat .git/index .git/HEAD | cksum`)
	path := l.site(p, "1", "one", "relay-tasks/lab/T1")
	l.is(path, "one", "refs/heads/relay-tasks/lab/T1")
	l.Sh("cd '" + path + "'; " + agent)
	path = l.site(p, "1", next, "relay-tasks/lab/T2")
	l.is(path, next, "refs/heads/relay-tasks/lab/T2")
	l.is(l.site(p, "1", "one", ""), "one", "")
	if after := l.Sh(`git status --porcelain; cat .git/index .git/HEAD | cksum`); after != before {
		t.Errorf("the user's checkout was %s and is %s", before, after)
	}
	l.Wants(map[string]string{"precious/run": "p\n"})
	if err := p.Remove(t.Context(), "1"); err != nil {
		t.Error(err)
	}
	if left := l.Sh(`ls .agents-os/relay/worktrees/1 .git/worktrees 2>/dev/null || true`); left != "" {
		t.Errorf("left: %s", left)
	}
}

// What a commit has in place of another repository stays empty.
func TestSlotOfASubmodule(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	l.Sh(leftByAgents["submodule filled"] + `; rm -rf s`)
	path := l.site(p, "1", "sub", "")
	l.Sh("cd '" + path + "'; git init -q s; touch s/x")
	l.is(l.site(p, "1", "sub", ""), "sub", "")
	l.Sh("cd '" + path + "'; git init -q s; touch s/x")
	l.is(l.site(p, "1", "one", ""), "one", "")
}

func TestSlotInAllKindsOfRepositories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options []string
		given   string
	}{
		"sha256":           {options: []string{"--object-format=sha256"}},
		"another default":  {given: `git branch -m main trunk`},
		"worktreeConfig":   {given: `git config extensions.worktreeConfig true; git config --worktree user.name Eve`},
		"user's worktrees": {given: `git worktree add -q ../1 one; git worktree add -q ../2 one; mkdir gone; git worktree add -q gone/1 one; rm -rf gone`},
		"detached":         {given: `git checkout -q --detach one`},
		"dirty":            {given: `echo dirty >> run; git rm -q --cached n; touch untracked`},
		"pointers":         {given: `printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 5\n' 0 > big; echo 'big filter=lfs diff=lfs merge=lfs -text' > .gitattributes; git add -A; git commit -q -m lfs; git tag -f one >/dev/null`},
		"autocrlf":         {given: `git config core.autocrlf true`},
		"packed":           {given: `git gc -q`},
		"other indexes":    {given: `git config core.untrackedCache true; git config index.version 4`},
		"branch elsewhere": {given: `git worktree add -q -b relay-tasks/lab/T1 ../look one`},
		"recursing":        {given: `git config submodule.recurse true; git config checkout.guess true; git config worktree.guessRemote true`},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			l, p := newPool(t, c.options...)
			l.Sh(c.given)
			theirs := l.Sh(`git worktree list --porcelain; GIT_OPTIONAL_LOCKS=0 git status --porcelain; cksum .git/index`)
			path := l.site(p, "1", "one", "relay-tasks/lab/T1")
			l.is(path, "one", "refs/heads/relay-tasks/lab/T1")
			l.Sh("cd '" + path + "'; echo x > run; rm -r d; touch new")
			l.is(l.site(p, "1", "two", ""), "two", "")
			if err := p.Remove(t.Context(), "1"); err != nil {
				t.Error(err)
			}
			if now := l.Sh(`git worktree list --porcelain; GIT_OPTIONAL_LOCKS=0 git status --porcelain; cksum .git/index`); now != theirs {
				t.Errorf("it was\n%s\nand is\n%s", theirs, now)
			}
		})
	}
}

// Files that are the same in two commits are written anew when attributes say that they look different.
func TestSlotWithOtherAttributes(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	l.Sh(`mkdir -p a/b; echo x > a/b/text; git add -A; git commit -q -m A; git tag plain; echo 'text text eol=crlf' > a/.gitattributes; git add -A; git commit -q -m B; git tag marked`)
	for _, commit := range []string{"plain", "marked", "marked", "plain"} {
		l.is(l.site(p, "1", commit, ""), commit, "")
	}
}

// A sparse checkout gives sparse worktrees, as git makes them.
func TestSlotOfASparseCheckout(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	l.Sh(`git checkout -q --detach one; git sparse-checkout set --no-cone /run /link`)
	path := l.site(p, "1", "one", "")
	sparse := func(when string) {
		t.Helper()
		if got := l.Sh("ls '" + path + "'"); got != "link\nrun" {
			t.Errorf("%s it has %q", when, got)
		}
	}
	sparse("at first")
	l.Sh("cd '" + path + "'; git sparse-checkout disable; ls d/e/f")
	l.site(p, "1", "one", "")
	sparse("after an agent took it all")
	l.Sh("cd '" + path + "'; echo x > n")
	l.site(p, "1", "two", "")
	sparse("at another commit")
}

// Relay's git stays in the slot, whatever an agent has done to find the user's repository with it, and what it commits there
// is fetched.
func TestFetch(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"commits", "a conflict", "modes", "no .git", "another .git", "the user's .git", "the user's common", "the user's refs",
		"the user's by a link", "empty refs", "HEAD garbage", "index by another", "configuration", "a filter",
	} {
		agent := leftByAgents[name]
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l, p := newPool(t)
			base := l.Git("rev-parse", "one")
			path := l.site(p, "1", "one", "relay-tasks/lab/T1")
			theirs := l.state()
			l.Sh("cd '" + path + "'; echo work > work; " + agent)
			repo, _, err := p.Open(t.Context(), "1", base, "relay-tasks/lab/T1")
			if err != nil {
				t.Fatal(err)
			}
			w := &worktree.Tree{Repo: repo, Branch: "refs/heads/relay-tasks/lab/T1"}
			if err := w.Runner().Unlock(); err != nil {
				t.Fatal(err)
			}
			head, err := w.CommitLeftovers(t.Context(), "work\n", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Fetch(t.Context(), repo, head, base, "refs/relay/lab/T1/1"); err != nil {
				t.Fatal(err)
			}
			if got := l.Git("show", "refs/relay/lab/T1/1:work"); got != "work" {
				t.Errorf("the work is %q", got)
			}
			l.Git("update-ref", "-d", "refs/relay/lab/T1/1")
			if after := l.state(); after != theirs {
				t.Errorf("the user's repository was\n%s\nand is\n%s", theirs, after)
			}
		})
	}
}

// state is all of the user's repository but objects, byte for byte, and its files.
func (l *lab) state() string {
	l.Helper()
	return l.Sh(`git for-each-ref; git stash list; git status --porcelain; find .git -path .git/objects -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 cksum; git count-objects -v | grep -E 'garbage'; git fsck --connectivity-only 2>&1 | grep -v dangling || true`)
}

// What an agent made of its worktree can be looked at before it is cleared.
func TestOpenKeepsTheFiles(t *testing.T) {
	t.Parallel()
	for name, agent := range leftByAgents {
		if slices.Contains(goneWithIt, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 6)
			t.Parallel()
			l, p := newPool(t)
			path := l.site(p, "1", "one", "relay-tasks/lab/T1")
			l.Sh("cd '" + path + "'; echo precious > work; " + agent)
			other := NewPool(p.Repo, p.folder.path) // of a later run
			for _, p := range []*Pool{p, other} {
				repo, _, err := p.Open(t.Context(), "1", l.Git("rev-parse", "one"), "relay-tasks/lab/T1")
				if err != nil {
					t.Fatal(err)
				}
				if head, err := repo.Head(t.Context()); err != nil || head == "" {
					t.Errorf("no head: %v", err)
				}
				l.Wants(map[string]string{".agents-os/relay/worktrees/1/work": "precious\n"})
				w := &worktree.Tree{Repo: repo, Branch: "refs/heads/relay-tasks/lab/T1"}
				if _, err := w.Untracked(t.Context(), func(string) bool { return true }); err != nil || !w.Readable(t.Context(), l.Git("rev-parse", "one")) {
					t.Errorf("git cannot read it: %v", err)
				}
			}
			l.is(l.site(other, "1", "two", ""), "two", "")
		})
	}
}

// An agent's commits are there when the slot is opened, and what would have git wait is not.
func TestOpenKeepsCommits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".git/fsmonitor--daemon.ipc", ".gitignore", ".gitattributes", ".gitmodules", ".git/FETCH_HEAD", ".git/logs/HEAD", ".git/refs/heads/x/y"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, p := newPool(t)
			path := l.site(p, "1", "one", "relay-tasks/lab/T1")
			block := "cd '" + path + "'; rm -f " + name + "; mkdir -p $(dirname " + name + "); mkfifo " + name
			socket := strings.HasSuffix(name, ".ipc")
			if socket {
				block = "cd '" + path + "'; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"" + name + "\")'"
			}
			l.Sh("cd '" + path + "'; git commit -q --allow-empty -m work; git rev-parse HEAD; " + block)
			repo, remade, err := p.Open(t.Context(), "1", l.Git("rev-parse", "one"), "relay-tasks/lab/T1")
			if err != nil || remade || l.Sh("cd '"+path+"'; git log -1 --format=%s") != "work" {
				t.Fatalf("the slot is made again: %v (%v)", remade, err)
			}
			if _, err := os.Lstat(filepath.Join(repo.Root(), name)); (err == nil) != socket {
				t.Error("the pipe is there, or the socket is gone")
			}
			if !socket {
				l.Sh(block)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if why, err := p.Unsaved(ctx, "1"); err != nil || !strings.HasPrefix(why, "c") {
				t.Errorf("lost would be %q (%v)", why, err)
			}
		})
	}
}

func TestOpenWhatIsGone(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	path := l.site(p, "1", "one", "")
	for _, agent := range []string{leftByAgents["a link for it"], `rm ../1`, `rm -rf ../../worktrees`} {
		l.Sh("cd '" + filepath.Dir(path) + "'; mkdir -p 1 && cd 1; " + agent + " || true")
		if _, _, err := p.Open(t.Context(), "2", l.Git("rev-parse", "one"), ""); !errors.Is(err, ErrGone) || err.Error() != "the slot is gone" {
			t.Errorf("after %s: %v", agent, err)
		}
	}
}

func TestNamesAndRemove(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	if names, err := p.Names(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("at first: %q, %v", names, err)
	}
	l.Sh(`git worktree add -q ../1 one; git worktree add -q ../theirs one`)
	for _, name := range []string{"1", "2", "check-1", "3", "4"} {
		l.site(p, name, "one", "")
	}
	l.Sh(`cd .agents-os/relay/worktrees; rm -rf 2 3/.git 4; mkdir stray; echo x > stray/x; ln -s / link`)
	names := repotest.Want[[]string](t)(p.Names(t.Context()))
	if !slices.Equal(names, []string{"1", "3", "check-1", "link", "stray"}) {
		t.Errorf("names %q", names)
	}
	for _, name := range names {
		if err := p.Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if names, err := p.Names(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("at last: %q, %v", names, err)
	}
	if got := l.Sh(`ls .git/worktrees; ls ../1/run ../theirs/run; git -C ../1 rev-parse --verify -q HEAD`); len(strings.Fields(got)) != 5 {
		t.Errorf("of the user's there is left: %s", got)
	}
	if isSlotName(strings.Repeat("a", 65)) || !isSlotName(strings.Repeat("a", 64)) {
		t.Error("a name is too long, or not")
	}
	for _, name := range []string{"", ".", "..", "a/b", "-x", ".git", "../../../precious"} {
		if err := p.Remove(t.Context(), name); err == nil || err.Error() != fmt.Sprintf("slot %q: not a name", name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestLoss(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ agent, loss string }{
		"nothing":      {`true`, ""},
		"ignored":      {`touch ignored`, ""},
		"changed":      {`echo changed > run`, "changes in no commit: run"},
		"removed":      {`rm run`, "changes in no commit: run"},
		"new":          {`mkdir a; touch a/b`, "changes in no commit: a/"},
		"committed":    {`git commit -q --allow-empty -m x`, "commits that are nowhere else: 1"},
		"on no branch": {`git checkout -q --detach; git commit -q --allow-empty -m x`, "commits that are nowhere else: 1"},
		"beside":       {`git checkout -q -b side; git commit -q --allow-empty -m x; git checkout -q -`, "commits that are nowhere else: 1"},
		"stashed":      {`echo y > run; git stash -q`, "commits that are nowhere else: 2"},
		"the user's":   {`git checkout -q --detach two`, ""},
		"half done":    {`d=$(git rev-parse --git-dir); mkdir $d/rebase-merge`, "a rebase in it is half done"},
		"damaged":      {`echo garbage > .git/HEAD`, "git cannot read it: git status: fatal: not a git repository: "},
		"not known":    {`rm -rf .git`, "git does not know it"},
		"renewed":      {`mkdir -p ../.relay; mv .git ../.relay/git-1`, ""}, // a pool was killed just then
		"another":      {`rm -rf .git; git init -q`, "git cannot read it: its .git is not the one relay made"},
		"a repository": {`git init -q inner; git -C inner commit -q --allow-empty -m x; git add inner 2>&1; git commit -q -m inner`, "repositories of their own inside it: inner"},
		"not begun":    {`git checkout -q --orphan none; git rm -rqf .`, "git cannot read its commits"},
		"gone":         {`rm -rf "$PWD"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			l, p := newPool(t)
			path := l.site(p, "1", "one", "relay-tasks/lab/T1")
			l.Sh("cd '" + path + "'; " + c.agent)
			before := l.Sh(`find .git .agents-os -printf '%p %T@\n' | sort`)
			if got := repotest.Want[string](t)(p.Unsaved(t.Context(), "1")); got != c.loss && (c.loss == "" || !strings.HasPrefix(got, c.loss)) {
				t.Errorf("lost would be %q, want %q", got, c.loss)
			}
			if after := l.Sh(`find .git .agents-os -printf '%p %T@\n' | sort`); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
		})
	}
}

func TestLossOfALivingProcess(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	path := l.site(p, "1", "one", "")
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.Dir = filepath.Join(path, "d", "e")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got := repotest.Want[string](t)(p.Unsaved(t.Context(), "1")); got != fmt.Sprintf("process %d works in it", cmd.Process.Pid) {
		t.Errorf("lost would be %q", got)
	}
	for name, why := range map[string]string{"not mine": "relay has not made it", "7": "it is a file"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := repotest.Want[string](t)(p.Unsaved(t.Context(), name)); got != why {
			t.Errorf("%s: lost would be %q, want %q", name, got, why)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := repotest.Want[string](t)(p.Unsaved(t.Context(), "1")); got != "" {
		t.Errorf("lost would be %q", got)
	}
}

// Protected files are put back, unless nobody can say which files are tracked.
func TestUndo(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	path := l.site(p, "1", "one", "")
	l.Sh("cd '" + path + "'; echo changed > run; echo changed > d/e/f; git add run; git config core.worktree /nowhere")
	undone := repotest.Want[[]string](t)(p.Undo(t.Context(), "1", func(path string) bool { return path == "run" }))
	if !slices.Equal(undone, []string{"run"}) {
		t.Errorf("put back: %q", undone)
	}
	l.Wants(map[string]string{".agents-os/relay/worktrees/1/run": "x\n", ".agents-os/relay/worktrees/1/d/e/f": "changed\n"})
	l.Sh("echo x >> '" + path + "/.git/relay-index'")
	if _, err := p.Undo(t.Context(), "1", func(string) bool { return true }); !errors.Is(err, ErrSpoiled) || err.Error() != "the slot was damaged" {
		t.Error(err)
	}
}

// No .gitattributes hides a change from a reviewer.
func TestAttributesHideNoChange(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	l.Sh("echo '* -diff' > .gitattributes; git add -A; git commit -q -m Attributes; echo more > run; git commit -q -am More")
	if got := l.Sh("cd '" + l.site(p, "1", "HEAD", "") + "'; git diff HEAD~1 -- run"); !strings.Contains(got, "+more") {
		t.Errorf("got %s", got)
	}
}

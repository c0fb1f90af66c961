package slot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/epic/slowtest"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

// Work is done in slots of all kinds of repositories, and fetched from there.
func TestWorkInAllKindsOfRepositories(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]string{ // makes the folder user, in a folder with one repository, origin
		"shallow":                `git clone -q --depth=1 "file://$PWD/origin" user`,
		"partial":                `git -C origin config uploadpack.allowFilter true; git clone -q --filter=blob:none "file://$PWD/origin" user`,
		"partial and sparse":     `git -C origin config uploadpack.allowFilter true; git clone -q --filter=blob:none --sparse "file://$PWD/origin" user`,
		"linked worktree":        `git clone -q origin home; git -C home worktree add -q ../user`,
		"bare with worktree":     `git clone -q --bare origin bare; git -C bare worktree add -q ../user`,
		"borrowing itself":       `git clone -q --shared origin user`,
		"sha256":                 `git init -q -b main --object-format=sha256 user; cp -r origin/d user; cd user; git remote add origin .; git add -A; git commit -q -m x`,
		"no local configuration": `git clone -q origin user; git -C user config --remove-section branch.main`,
		"relative address":       `git clone -q origin user; git -C user remote set-url origin ../origin`,
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			l := &lab{Repo: repotest.New(t)}
			l.Sh(`mkdir -p d; seq 9 > d/f; git add -A; git commit -q -m One; seq 99 > d/f; git commit -qam Two; cd ..; mv work origin; mkdir work; mv origin work/; cd work; ` + given)
			l.Root = filepath.Join(l.Root, "user")
			l.Sh(`git config user.name Ada; git config user.email ada@example.com`)
			p := NewPool(l.Open(), l.Path(".agents-os/relay/worktrees"))
			base := l.Git("rev-parse", "HEAD")
			before := l.Sh(`git for-each-ref; cat "$(git rev-parse --git-common-dir)/shallow" 2>&1 || true; git status --porcelain --untracked-files=no`)
			for range 2 {
				path := l.site(p, "1", base, "relay-tasks/lab/T1")
				l.Sh("cd '" + path + "'; git log --oneline >/dev/null; mkdir -p d; echo new > d/new; git add --sparse -A; git commit -q -m work; git fetch -q origin")
				repo := repotest.Want[*git.Repo](t)(first(p.Open(t.Context(), "1", base, "relay-tasks/lab/T1")))
				head := repotest.Want[string](t)(repo.Head(t.Context()))
				if err := p.Fetch(t.Context(), repo, head, base, "refs/relay/lab/T1/1"); err != nil {
					t.Fatal(err)
				}
				if got := l.Git("show", "refs/relay/lab/T1/1:d/new"); got != "new" {
					t.Errorf("fetched %q", got)
				}
				if why := repotest.Want[string](t)(p.Unsaved(t.Context(), "1")); why != "" {
					t.Error(why)
				}
				l.Git("update-ref", "-d", "refs/relay/lab/T1/1")
			}
			if after := l.Sh(`git for-each-ref; cat "$(git rev-parse --git-common-dir)/shallow" 2>&1 || true; git status --porcelain --untracked-files=no`); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
			if got := l.Sh(`git fsck --connectivity-only 2>&1 | grep -v dangling || true`); strings.Contains(got, "missing") || strings.Contains(got, "broken") {
				t.Error(got)
			}
		})
	}
}

func first(repo *git.Repo, _ bool, err error) (*git.Repo, error) { return repo, err }

func TestOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`with space`, `"quoted"`, `#hash`, `back\slash`, `ünï`, `a:b`, `-dash`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lab{Repo: repotest.New(t)}
			root := filepath.Join(filepath.Dir(l.Root), name)
			if err := os.Rename(l.Root, root); err != nil {
				t.Fatal(err)
			}
			l.Root = root
			p := NewPool(l.Open(), l.Path(".agents-os/relay/worktrees"))
			repo := repotest.Want[*git.Repo](t)(p.Acquire(t.Context(), "1", l.Git("rev-parse", "HEAD"), "relay-tasks/lab/T1"))
			w := &worktree.Tree{Repo: repo, Branch: "refs/heads/relay-tasks/lab/T1"}
			if err := os.WriteFile(filepath.Join(repo.Root(), "work"), []byte("work\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			head := repotest.Want[string](t)(w.CommitLeftovers(t.Context(), "work\n", nil))
			if err := p.Fetch(t.Context(), repo, head, l.Git("rev-parse", "HEAD"), "refs/relay/lab/T1/1"); err != nil {
				t.Fatal(err)
			}
			if got := l.Git("show", "refs/relay/lab/T1/1:work"); got != "work" {
				t.Errorf("fetched %q", got)
			}
		})
	}
}

// A slot has the identity and the harmless settings of the user's local configuration, their branches, and work that is kept.
func TestWhatASlotHas(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	l.Sh(`git config i18n.commitEncoding UTF-8; git config core.hooksPath evil; git config core.fsmonitor evil; git config core.sshCommand evil; git config core.editor evil
		git config url.evil:.insteadOf https://; git config remote.up.url 'https://example.com/"x\y'; git config remote.up.pushurl evil; git config include.path evil; git config alias.co evil
		git config filter.crypt.clean cat; git config user.signingKey "a\"b#c;d"; git config core.autocrlf input
		git branch feature/x one; git update-ref refs/remotes/up/main one; git branch relay-tasks/lab/T9; git update-ref refs/relay/lab/T1/1 two; mkdir -p .git/info; echo '*.own' >> .git/info/exclude`)
	path := l.site(p, "1", "one", "")
	in := func(script string) string { return l.Sh("cd '" + path + "'; " + script) }
	for question, want := range map[string]string{
		`git config user.name; git config user.email`:                                                       "Ada\nada@example.com",
		`git config i18n.commitEncoding; git config filter.crypt.clean`:                                     "UTF-8\ncat",
		`git config user.signingKey; git config remote.up.url`:                                              "a\"b#c;d\nhttps://example.com/\"x\\y",
		`git config --local --list | grep -c evil || true`:                                                  "0",
		`git config core.autocrlf; git config gc.auto; git config maintenance.auto; git config lfs.storage`: "input\n0\nfalse\n" + l.Path(".git/lfs"),
		`git for-each-ref --format='%(refname)'`:                                                            "refs/heads/main\nrefs/relay/lab/T1/1\nrefs/remotes/origin/feature/x\nrefs/remotes/origin/main\nrefs/remotes/up/main\nrefs/tags/one\nrefs/tags/two",
		`touch a.own; git status --porcelain; rm a.own`:                                                     "",
		`git rev-parse origin/feature/x`:                                                                    l.Git("rev-parse", "one"),
	} {
		if got := in(question); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}

package slot

import (
	"reflect"
	"testing"

	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

// A slot has what is in force in the checkout, also by a condition on its place that no slot meets, and each value once.
func TestSettingsInForce(t *testing.T) {
	t.Parallel()
	l, _ := newPool(t)
	l.Sh(`git config --file ../work.cfg user.email ada@work.example; git config --file ../work.cfg gpg.format ssh; git config --file ../work.cfg core.hooksPath evil
		git config "includeIf.gitdir:**/worktrees/side.path" "$PWD/../work.cfg"; git config http.extraHeader one; git config --add http.extraHeader two
		git worktree add -q ../side`)
	l.Root = l.Path("../side")
	p := NewPool(l.Open(), l.Path(".agents-os/relay/worktrees"))
	path := l.site(p, "1", "one", "")
	for question, want := range map[string]string{
		`git config user.email; git config gpg.format; git log -1 --format=%ae`:         "ada@work.example\nssh\nada@work.example",
		`git config --get-all http.extraHeader; git config core.hooksPath || echo none`: "one\ntwo\nnone",
	} {
		if got := l.Sh("cd '" + path + "'; git commit -q --allow-empty -m x; " + question); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}

func TestBeyond(t *testing.T) {
	t.Parallel()
	type list = [][2]string
	home, work := [2]string{"user.email", "home"}, [2]string{"user.email", "work"}
	for name, c := range map[string]struct{ all, has, want list }{
		"the same":             {list{home}, list{home}, nil},
		"one more":             {list{home, work}, list{home}, list{work}},
		"none at first":        {list{work}, nil, list{work}},
		"included in between":  {list{work, home}, list{home}, list{work, home}},
		"another one":          {list{home}, list{work}, list{home}},
		"the same, and a list": {list{home, home, work}, list{home, home}, list{work}},
	} {
		if got := beyond(c.all, c.has); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What a filter keeps in .git is in the slot's as well, as the user has it, whatever an agent makes of it.
func TestKeysOfFilters(t *testing.T) {
	t.Parallel()
	l, p := newPool(t)
	l.Write("../bin/crypt", "#!/bin/sh\ncat \"$(git rev-parse --git-dir)/crypt/keys/default\" >/dev/null && tr a-z n-za-m\n")
	l.Sh(`chmod +x ../bin/crypt; mkdir -p .git/crypt/keys; echo key >.git/crypt/keys/default
		for is in clean smudge; do git config filter.secret.$is "'$PWD/../bin/crypt' $is"; done; git config filter.secret.required true
		echo '*.key filter=secret' >.gitattributes; echo hello >a.key; git add -A; git commit -qm Secret`)
	commit, branch := l.Git("rev-parse", "HEAD"), "relay-tasks/lab/T1"
	path := l.site(p, "1", commit, branch)
	if got := l.Sh("cd '" + path + "'; cat a.key; git show HEAD:a.key; rm -r .git/crypt"); got != "hello\nuryyb" {
		t.Errorf("the slot has %q", got)
	}
	repo := repotest.Want[*git.Repo](t)(first(p.Open(t.Context(), "1", commit, branch)))
	if got := l.Sh("cd '" + repo.Root() + "'; cat .git/crypt/keys/default; ls -ld .git/crypt | cut -c1-10; echo world >a.key; git commit -qam x; git show HEAD:a.key"); got != "key\ndrwx------\njbeyq" {
		t.Errorf("it has %q", got)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	l := repotest.New(t)
	for url, want := range map[string]string{
		"../up.git": l.Path("../up.git"), ".": l.Root, "up.git": l.Path("up.git"), "/srv/up.git": "/srv/up.git", "host:up.git": "host:up.git",
		"https://example.com/up": "https://example.com/up", "git@example.com:a/b": "git@example.com:a/b", "": "",
	} {
		if got := Address(l.Open(), url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

package slot

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
	"relay/reanchor/git/repotest"
)

func TestUnsuited(t *testing.T) {
	t.Parallel()
	const submodule = `git init -q ../inner; git -C ../inner -c user.name=a -c user.email=b commit -q --allow-empty -m x
		git -c protocol.file.allow=always submodule --quiet add ../inner 'lib/in ner'; git commit -q -m sub; `
	const crypt = `echo '*.bin filter=crypt' > .gitattributes; echo long > a.bin; echo > b.bin; git add -A; git commit -qm x; git config filter.crypt.clean cat; git config filter.crypt.smudge nosuchprog; `
	const keyed = crypt + `mkdir ../bin; printf '#!/bin/sh\ntest -f "$(git rev-parse --git-dir)/key/it" || { echo "key: unlock this repository first" >&2; exit 1; }; cat' > ../bin/key
		chmod +x ../bin/key; git config filter.crypt.required true; git config filter.crypt.smudge "../bin/key smudge"; `
	for name, c := range map[string]struct{ given, reason, hint string }{
		"plain":                 {given: `true`},
		"sparse":                {given: `git sparse-checkout set --no-cone /seed.txt`},
		"shallow":               {given: `echo x > x; git add x; git commit -q -m x; git rev-parse HEAD > .git/shallow`},
		"worktreeConfig":        {given: `git config extensions.worktreeConfig true`},
		"no commit":             {given: `git checkout -q --orphan new`, reason: "no commit yet", hint: "git commit --allow-empty"},
		"branch relay":          {given: `git branch relay`, reason: "a branch named relay,", hint: "git branch -m relay another-name"},
		"branch relay-tasks":    {given: `git branch relay-tasks; git pack-refs --all`, reason: "a branch named relay-tasks,", hint: "git branch -m relay-tasks another-name"},
		"branches below":        {given: `git branch relay/x; git branch relay-tasks/x/y`},
		"submodule":             {given: submodule},
		"submodule not fetched": {given: submodule + `git submodule --quiet deinit --all`},
		"odd .gitmodules":       {given: `printf '[submodule "x"]\npath = ../../etc\n[submodule "y"]\n' > .gitmodules`},
		"broken .gitmodules":    {given: `printf '[[[' > .gitmodules`},
		"pointers":              {given: `echo '* filter=lfs' > .gitattributes`},
		"lfs that is not there": {given: `echo '* filter=lfs' > .gitattributes; git config filter.lfs.required true`, reason: "because its filter lfs fails: git cat-file: ", hint: "mend what filter.lfs in git config names"},
		"lfs done without":      {given: `echo '* filter=lfs' > .gitattributes; echo > a; git add -A; git commit -qm x; git config filter.lfs.required true; git config filter.lfs.process 'nosuchprog x'; git config filter.lfs.smudge nosuchprog; git config filter.lfs.required false && git config filter.lfs.process ""`},
		"lfs for nothing here":  {given: `git config filter.lfs.required true`},
		"lfs below": {
			given:  `mkdir sub; echo '*.bin filter=lfs' > sub/.gitattributes; echo x > sub/a.bin; git add -A; git commit -qm x; git config filter.lfs.required true; git config filter.lfs.process nosuchprog`,
			reason: "git cannot write sub/a.bin into a worktree, because its filter lfs fails: git cat-file: error: cannot run nosuchprog: No such file or directory", hint: "mend what filter.lfs in git config names (install it, unlock the repository), or set relay.isolation: none",
		},
		"a filter that fails": {
			given:  crypt + `git config filter.crypt.required true`,
			reason: "git cannot write b.bin into a worktree, because its filter crypt fails: git cat-file: error: cannot run nosuchprog: No such file or directory", hint: "mend what filter.crypt in git config names (install it, unlock the repository), or set relay.isolation: none",
		},
		"a filter of the user's own attributes": {
			given:  crypt + `git config filter.crypt.required true; git mv .gitattributes own; git commit -qam own; git config core.attributesFile own`,
			reason: "git cannot write b.bin into a worktree, because its filter crypt fails: git cat-file: error: cannot run nosuchprog: No such file or directory", hint: "mend what filter.crypt in git config names (install it, unlock the repository), or set relay.isolation: none",
		},
		"a filter that need not work": {given: crypt},
		"a filter with its key":       {given: keyed + `mkdir .git/key; echo x > .git/key/it`},
		"a filter without its key": {
			given:  keyed,
			reason: "git cannot write b.bin into a worktree, because its filter crypt fails: git cat-file: key: unlock this repository first", hint: "unlock the repository",
		},
		"a filter that works":        {given: crypt + `git config filter.crypt.required true; git config filter.crypt.smudge cat`},
		"a filter for nothing":       {given: crypt + `git config filter.crypt.required true; git rm -q *.bin`},
		"a filter nobody has set up": {given: `echo '* filter=crypt' > .gitattributes; git add -A; git commit -qm x`},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			l := repotest.New(t)
			l.Sh(c.given)
			err := CheckRepository(t.Context(), l.Open())
			var refused *attempts.RefusedError
			switch {
			case c.reason == "" && err != nil:
				t.Error(err)
			case c.reason != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Reason, c.reason) || !strings.Contains(refused.Hint, c.hint)):
				t.Errorf("got %v, want %q and %q", err, c.reason, c.hint)
			}
		})
	}
}

func TestOldGit(t *testing.T) {
	t.Parallel()
	for version, enough := range map[string]bool{
		"2.37.9": false, "1.9.1": false, "2.9.0": false, "2.38.0": true, "2.39.5 (Apple Git-154)": true, "2.45.1.windows.1": true, "3.0.0": true, "2.50.GIT": true, "unknown": true,
	} {
		if newEnough(version) != enough {
			t.Errorf("%s: %t", version, !enough)
		}
	}
}

func TestUnsuitedWithoutACommit(t *testing.T) {
	t.Parallel()
	empty := &repotest.Repo{T: t, Root: filepath.Join(t.TempDir(), "empty")}
	empty.Write("x", "")
	empty.Git("init", "-q")
	err := CheckRepository(t.Context(), empty.Open())
	if want := (attempts.RefusedError{Reason: "this repository has no commit yet, from which tasks could begin", Hint: "git add -A && git commit --allow-empty -m Begin, then relay work"}); err == nil || err.Error() != want.Reason {
		t.Errorf("got %v, want %+v", err, want)
	}
}

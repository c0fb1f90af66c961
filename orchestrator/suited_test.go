package orchestrator

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestUnsuited(t *testing.T) {
	t.Parallel()
	const submodule = `git init -q ../inner; git -C ../inner -c user.name=a -c user.email=b commit -q --allow-empty -m x
		git -c protocol.file.allow=always submodule --quiet add ../inner 'lib/in ner'; git commit -q -m sub; `
	for name, c := range map[string]struct{ given, reason, hint string }{
		"plain":                 {given: `true`},
		"sparse":                {given: `git sparse-checkout set --no-cone /seed.txt`},
		"shallow":               {given: `echo x > x; git add x; git commit -q -m x; git rev-parse HEAD > .git/shallow`},
		"worktreeConfig":        {given: `git config extensions.worktreeConfig true`},
		"no commit":             {given: `git checkout -q --orphan new`, reason: "no commit yet", hint: "git commit --allow-empty"},
		"branch relay":          {given: `git branch relay`, reason: "a branch named relay,", hint: "git branch -m relay another-name"},
		"branch relay-tasks":    {given: `git branch relay-tasks; git pack-refs --all`, reason: "a branch named relay-tasks,", hint: "git branch -m relay-tasks another-name"},
		"branches below":        {given: `git branch relay/x; git branch relay-tasks/x/y`},
		"submodule":             {given: submodule, reason: "submodule lib/in ner is checked out", hint: "relay.isolation: none"},
		"submodule not fetched": {given: submodule + `git submodule --quiet deinit --all`},
		"odd .gitmodules":       {given: `printf '[submodule "x"]\npath = ../../etc\n[submodule "y"]\n' > .gitmodules`},
		"broken .gitmodules":    {given: `printf '[[[' > .gitmodules`},
		"pointers":              {given: `echo '* filter=lfs' > .gitattributes`},
		"lfs that is not there": {given: `echo '* filter=lfs' > .gitattributes; git config filter.lfs.required true`, reason: "git-lfs, which is not installed", hint: "install git-lfs"},
		"lfs for nothing here":  {given: `git config filter.lfs.required true`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("git-lfs"); err == nil && strings.Contains(c.hint, "git-lfs") {
				t.Skip("git-lfs is here")
			}
			l := newGround(t)
			l.sh(c.given)
			err := unsuited(t.Context(), l.repo())
			var refused *RefusedError
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
		if merges(version) != enough {
			t.Errorf("%s: %t", version, !enough)
		}
	}
}

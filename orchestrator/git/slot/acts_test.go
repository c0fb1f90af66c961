package slot

import (
	"path/filepath"
	"testing"

	"relay/epic/slowtest"
)

// acts are what agents do to a repository that they share with its user: with worktrees each of these changed the user's
// repository.
var acts = map[string]string{
	"stash pop":               `echo x > run; git stash -q; git stash pop -q; git stash pop -q || true`,
	"stash clear":             `git stash clear`,
	"branch -f":               `git branch -f feature HEAD`,
	"branch -D":               `git branch -D feature || true`,
	"tag -d":                  `git tag -d one two`,
	"the integration branch":  `git update-ref refs/heads/relay/lab HEAD; git update-ref refs/relay-tip/lab HEAD`,
	"a neighbour's branch":    `git update-ref refs/heads/relay-tasks/lab/T2 HEAD`,
	"configuration":           `git config user.name Mallory; git config core.hooksPath /tmp/evil; git config filter.evil.smudge evil`,
	"info files":              `d=$(git rev-parse --git-common-dir); mkdir -p $d/info; echo '* filter=evil' > $d/info/attributes; echo '*' > $d/info/exclude`,
	"hooks":                   `d=$(git rev-parse --git-common-dir)/hooks; mkdir -p $d; printf '#!/bin/sh\nexit 1\n' > $d/pre-commit; chmod +x $d/pre-commit`,
	"gc --prune=now":          `git reflog expire --expire=now --all; git gc -q --prune=now`,
	"repack and prune":        `git repack -adq; git prune --expire=now`,
	"replace":                 `git replace two one`,
	"reflog expire":           `git reflog expire --expire=now --all`,
	"pack-refs":               `git pack-refs --all --prune`,
	"garbage in packed-refs":  `echo garbage >> "$(git rev-parse --git-common-dir)/packed-refs"`,
	"an empty ref":            `d=$(git rev-parse --git-common-dir); mkdir -p $d/refs/heads; : > $d/refs/heads/main`,
	"worktree prune":          `git worktree prune`,
	"the common folder's own": `d=$(git rev-parse --git-common-dir); rm -rf $d/logs $d/refs $d/packed-refs $d/config`,
	"amend main":              `git checkout -q -B main origin/main; git commit -q --amend --allow-empty -m amended; git update-ref refs/heads/main HEAD~1 || true`,
	"shallow":                 `git rev-parse HEAD > "$(git rev-parse --git-common-dir)/shallow"`,
}

// Nothing that is done inside a slot changes the user's repository, byte for byte.
func TestActsStayInTheSlot(t *testing.T) {
	t.Parallel()
	if len(acts) != 21 {
		t.Errorf("%d acts", len(acts))
	}
	for name, act := range acts {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 8)
			t.Parallel()
			l, p := newPool(t)
			l.Sh(`echo precious > n; git stash -q; git branch feature one; git branch relay/lab; git branch relay-tasks/lab/T2 one; git update-ref refs/relay-tip/lab HEAD
				git worktree add -q ../gone one; rm -rf ../gone; echo dangling | git hash-object -w --stdin; echo mine > untracked; git reflog >/dev/null`)
			path := l.site(p, "1", "two", "relay-tasks/lab/T1")
			before := l.state() + l.Sh(`find .git -type f | LC_ALL=C sort | xargs cksum; cat untracked`)
			l.Sh("cd '" + path + "'; " + act)
			if after := l.state() + l.Sh(`find .git -type f | LC_ALL=C sort | xargs cksum; cat untracked`); after != before {
				t.Errorf("the user's repository was\n%s\nand is\n%s", before, after)
			}
			l.is(l.site(p, "1", "one", ""), "one", "")
			if got := l.Sh("cd '" + filepath.Join(p.folder.path, "1") + "'; git fsck --strict 2>&1 | grep -v dangling || true; git rev-parse two origin/main^0 | uniq | wc -l"); got != "1" {
				t.Errorf("the next task finds %s", got)
			}
		})
	}
}

package orchestrator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/epic"
	"relay/reanchor"
)

func TestVault(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"removed":      `rm -rf .git`,
		"emptied":      `rm -rf .git/*`,
		"a file":       `rm -rf .git; echo x > .git`,
		"no HEAD":      `rm .git/HEAD`,
		"bad HEAD":     `echo nonsense > .git/HEAD`,
		"no refs":      `rm -rf .git/refs .git/packed-refs`,
		"a config":     `echo '[x' > .git/config`,
		"not harmed":   `true`,
		"only touched": `git commit -q --allow-empty -m more`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "")
			l.sh(`git tag packed; git pack-refs --all; git tag loose; mkdir -p .git/lfs/objects/ab/cd .git/modules/objects; echo big > .git/lfs/objects/ab/cd/abcd; echo conf > .git/modules/objects/config; touch .git/x.lock`)
			l.begin()
			v, head := l.c.vault, l.git("rev-parse", "HEAD")
			if name == "only touched" {
				head = ""
			}
			for round := range 2 { // twice: what was moved aside the first time is not in the way
				l.sh(damage)
				if _, err := v.mend(t.Context(), l.c.repo); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if got := l.git("rev-parse", "HEAD", "packed", "loose"); head != "" && got != strings.Repeat(head+"\n", 2)+head {
					t.Errorf("round %d: HEAD and tags are %s", round, got)
				}
				l.git("fsck", "--strict")
				l.wants(map[string]string{".git/lfs/objects/ab/cd/abcd": "big\n", ".git/modules/objects/config": "conf\n"})
			}
			if err := v.close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(v.store); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the copy is still there: %v", err)
			}
		})
	}
}

// What never changes is linked, what is written in place is not, and locks and what is gone by now are left out.
func TestVaultLinks(t *testing.T) {
	t.Parallel()
	for rel, want := range map[string]bool{
		"objects/ab/cdef": true, "objects/pack/pack-1.pack": true, "objects/info/alternates": false, "objects/pack/multi-pack-index": false,
		"modules/sub/objects/ab/cdef": true, "modules/objects/config": false, "lfs/objects/ab/cd/abcd": true, "annex/objects/x/y/KEY/KEY": true,
		"config": false, "refs/heads/objects/ab": false, "objects": false, "logs/HEAD": false,
	} {
		if got := inObjects(filepath.FromSlash(rel)); got != want {
			t.Errorf("%s: got %v, want %v", rel, got, want)
		}
	}
	l := newLab(t, "")
	l.sh(`git branch gone; touch .git/index.lock; mkdir -p .git/hooks; touch .git/hooks/pre-commit.sample .git/hooks/pre-push`)
	l.begin()
	l.sh(`git branch -D -q gone`)
	if err := l.c.vault.save(); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"index.lock", "refs/heads/gone", "hooks/pre-commit.sample"} {
		if _, err := os.Lstat(filepath.Join(l.c.vault.store, gone)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s would come back: %v", gone, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(l.c.vault.store, "hooks", "pre-push")); err != nil {
		t.Error(err)
	}
}

// Without a whole copy a damaged .git is left as it is.
func TestVaultWithoutACopy(t *testing.T) {
	t.Parallel()
	l := newLab(t, "").begin()
	if err := os.Remove(filepath.Join(l.c.vault.store, "HEAD")); err != nil { // as if relay was killed while it copied
		t.Fatal(err)
	}
	l.sh(`echo nonsense > .git/HEAD`)
	if _, err := l.c.vault.mend(t.Context(), l.c.repo); err == nil || !strings.HasPrefix(err.Error(), "the repository's .git is damaged or gone, and there is no copy of it: ") {
		t.Errorf("half a copy was put back: %v", err)
	}
	l.wants(map[string]string{".git/HEAD": "nonsense\n"})
}

func TestVaultOfALinkedWorktree(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	other := &lab{T: t, root: filepath.Join(t.TempDir(), "linked")}
	l.git("worktree", "add", "-q", "-b", "side", other.root)
	other.open("echo x > work.txt; rm .git")
	other.begin()
	f := other.try(epic.Task{}, nil)
	if f.Outcome != "tamper" || other.git("symbolic-ref", "HEAD") != "refs/heads/side" {
		t.Errorf("got %s %q", f.Outcome, f.Receipt.ErrorSummary)
	}
	if _, err := reanchor.OpenGit(t.Context(), other.root); err != nil {
		t.Error(err)
	}
}

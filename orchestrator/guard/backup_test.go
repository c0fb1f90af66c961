package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newVault has a copy of a lab's .git.
func newVault(l *backupLab) *Backup {
	l.Helper()
	v := &Backup{GitDir: l.Path(".git"), Store: filepath.Join(l.TempDir(), "copies", "own"), Aside: l.Path(".agents-os/relay/git-damaged")}
	if err := v.Save(); err != nil {
		l.Fatal(err)
	}
	return v
}

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
		"bare":         `git config core.bare true`,
		"elsewhere":    `git config core.worktree /`,
		"not harmed":   `true`,
		"only touched": `git commit -q --allow-empty -m more`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newBackupLab(t)
			l.Sh(`git tag packed; git pack-refs --all; git tag loose; mkdir -p .git/lfs/objects/ab/cd .git/modules/objects; echo big > .git/lfs/objects/ab/cd/abcd; echo conf > .git/modules/objects/config; touch .git/x.lock`)
			v, head := newVault(l), l.Git("rev-parse", "HEAD")
			if name == "only touched" {
				head = ""
			}
			for round := range 2 { // twice: what was moved aside the first time is not in the way
				l.Sh(damage)
				if _, err := v.Mend(t.Context(), l.repo); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if got := l.Git("rev-parse", "HEAD", "packed", "loose"); head != "" && got != strings.Repeat(head+"\n", 2)+head {
					t.Errorf("round %d: HEAD and tags are %s", round, got)
				}
				l.Git("fsck", "--strict")
				if got := l.Git("rev-parse", "--show-toplevel"); got != l.Root {
					t.Errorf("round %d: the checkout is in %s", round, got)
				}
				l.Wants(map[string]string{".git/lfs/objects/ab/cd/abcd": "big\n", ".git/modules/objects/config": "conf\n"})
			}
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(v.Store); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the copy is still there: %v", err)
			}
		})
	}
}

// What never changes is linked, what is written in place is not, and locks and what is gone by now are left out.
// Other users see nothing of a copy, and find .git as open as it was when it is put back.
func TestVaultIsPrivate(t *testing.T) {
	t.Parallel()
	l := newBackupLab(t)
	l.Sh("chmod 750 .git")
	v := newVault(l)
	l.Sh("rm -rf .git")
	if _, err := v.Mend(t.Context(), l.repo); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{v.Store: 0o700, v.GitDir: 0o750} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
}

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
	l := newBackupLab(t)
	l.Sh(`git branch gone; touch .git/index.lock; mkdir -p .git/hooks; touch .git/hooks/pre-commit.sample .git/hooks/pre-push`)
	v := newVault(l)
	l.Sh(`git branch -D -q gone`)
	if err := v.Save(); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"index.lock", "refs/heads/gone", "hooks/pre-commit.sample"} {
		if _, err := os.Lstat(filepath.Join(v.Store, gone)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s would come back: %v", gone, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(v.Store, "hooks", "pre-push")); err != nil {
		t.Error(err)
	}
}

// Without a whole copy a damaged .git is left as it is.
func TestVaultWithoutACopy(t *testing.T) {
	t.Parallel()
	l := newBackupLab(t)
	v := newVault(l)
	if err := os.Remove(filepath.Join(v.Store, "HEAD")); err != nil { // as if relay was killed while it copied
		t.Fatal(err)
	}
	l.Sh(`echo nonsense > .git/HEAD`)
	if _, err := v.Mend(t.Context(), l.repo); err == nil || !strings.HasPrefix(err.Error(), "the repository's .git is damaged or gone, and there is no copy of it: ") {
		t.Errorf("half a copy was put back: %v", err)
	}
	l.Wants(map[string]string{".git/HEAD": "nonsense\n"})
}

func TestBackupThatCannotBePutBack(t *testing.T) {
	t.Parallel()
	l := newBackupLab(t)
	v := &Backup{GitDir: filepath.Join(l.Root, "gone"), Store: filepath.Join(l.Root, "copy"), Aside: filepath.Join(l.Root, "seed.txt", "x")}
	l.Write("copy/HEAD", "ref: refs/heads/main\n")
	_, err := v.Restore(t.Context(), func() bool { return false })
	if want := "the repository's .git is gone and its copy cannot be put back: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

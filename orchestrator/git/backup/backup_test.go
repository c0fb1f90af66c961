package backup

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

// What the damaged .git has beyond the copy comes along, as far as it is whole.
func TestVaultKeepsWhatIsNewer(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"bad HEAD":   `echo nonsense > .git/HEAD`,
		"no HEAD":    `rm .git/HEAD`,
		"a config":   `git switch -q side; echo '[x' > .git/config; rm .git/HEAD; mkdir .git/HEAD`,
		"elsewhere":  `git switch -q side; git update-ref -d refs/relay-tip/e; git update-ref -d refs/heads/side; git update-ref refs/heads/side/x main`,
		"odd things": `ln -s / .git/refs/heads/root; mkfifo .git/refs/heads/pipe .git/worktrees; echo x > .git/refs/heads/text; echo ../../x > .git/HEAD`,
		"packed":     `git pack-refs --all; echo nonsense > .git/HEAD`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newBackupLab(t)
			l.Sh(`git update-ref refs/relay-tip/e HEAD; git branch torn; git branch amended; echo 0 > seed.txt; git stash -q`)
			v := newVault(l)
			l.Sh(`echo new > new.txt; git add new.txt; git commit -qm new; git branch side; echo 1 > seed.txt; git stash -q; echo staged > staged.txt; git add staged.txt
				tree=$(printf '100644 blob %s\tx\n' $(echo gone | git hash-object -w --stdin) | git mktree)
				git update-ref refs/heads/torn $(git commit-tree -p torn -m torn $tree)
				rm -f .git/objects/$(echo gone | git hash-object --stdin | sed 's,^..,&/,')
				git update-ref refs/heads/amended $(git commit-tree -m amended HEAD^{tree})`)
			want, old := l.Git("rev-parse", "main"), l.Git("rev-parse", "main~1")
			l.Sh(damage)
			if _, err := v.Mend(t.Context(), l.repo); err != nil {
				t.Fatal(err)
			}
			if got := l.Git("rev-parse", "HEAD", "main", "torn", "amended"); got != strings.Join([]string{want, want, old, old}, "\n") {
				t.Errorf("refs are %s, want %s and %s", got, want, old)
			}
			if got := l.Git("symbolic-ref", "--short", "HEAD"); got != "main" {
				t.Errorf("on %s", got)
			}
			if got := l.Git("status", "--porcelain"); got != "A  staged.txt" {
				t.Errorf("status is %q", got)
			}
			if got := strings.Count(l.Git("stash", "list"), "\n"); got != 1 {
				t.Errorf("the stash is %s", l.Git("stash", "list"))
			}
			l.Git("fsck", "--strict", "--connectivity-only")
		})
	}
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

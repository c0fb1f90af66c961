package reanchor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMain gives git a configuration of its own, so that the answers do not depend on who runs the tests.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "reanchor")
	if err != nil {
		panic(err)
	}
	config := "[user]\nname = Test\nemail = test@example.org\n[init]\ndefaultBranch = main\n[protocol \"file\"]\nallow = always\n" +
		"[gc]\nauto = 0\n[advice]\ndetachedHead = false\n[uploadpack]\nallowFilter = true\nallowAnySHA1InWant = true\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		panic(err)
	}
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"} {
		_ = os.Unsetenv(name)
	}
	for name, value := range map[string]string{
		"HOME": home, "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_DATE": "2026-01-11T17:30:00Z", "GIT_COMMITTER_DATE": "2026-01-11T17:30:00Z",
	} {
		_ = os.Setenv(name, value)
	}
	code := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// git runs the git program as a person would, not through Run.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(t.Context(), dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryGit(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out) + string(exit.Stderr), err
	}
	return string(out), err
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, dir, message string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", message)
}

// normal is an ordinary repository with a little history and one change of every kind.
func normal(t testing.TB, options ...string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, append([]string{"init", "-q"}, options...)...)
	for _, name := range []string{"kept.txt", "edited.txt", "gone.txt", "moved.txt", "sub/deep.txt"} {
		write(t, dir, name, "first line of "+name+"\nsecond\nthird\n")
	}
	commit(t, dir, "T1: first\n\nbody")
	write(t, dir, "kept.txt", "changed\n")
	commit(t, dir, "T2: second\nstill the subject")
	return dir
}

// dirty leaves one uncommitted change of every kind.
func dirty(t testing.TB, dir string) string {
	t.Helper()
	write(t, dir, "edited.txt", "edited and longer than before\n")
	write(t, dir, "new/untracked.txt", "x")
	write(t, dir, "staged.txt", "x")
	git(t, dir, "add", "staged.txt")
	git(t, dir, "rm", "-q", "gone.txt")
	git(t, dir, "mv", "moved.txt", "elsewhere.txt")
	return dir
}

// repo is one repository to read, and whether go-git is known to read its references and its commits.
type repo struct {
	name       string
	refs, logs bool
	make       func(t testing.TB) string
}

// repositories are what people have, and what agents leave.
func repositories() []repo {
	return append(ordinary(), unusual()...)
}

func ordinary() []repo {
	return []repo{
		{"normal", true, true, func(t testing.TB) string { return dirty(t, normal(t)) }},
		{"packed", true, true, func(t testing.TB) string {
			dir := normal(t)
			git(t, dir, "gc", "-q")
			return dirty(t, dir)
		}},
		{"index v4", true, true, func(t testing.TB) string {
			dir := dirty(t, normal(t))
			git(t, dir, "update-index", "--index-version", "4")
			return dir
		}},
		{"untracked cache", true, true, func(t testing.TB) string {
			dir := dirty(t, normal(t))
			git(t, dir, "update-index", "--untracked-cache")
			return dir
		}},
		{"detached", true, true, func(t testing.TB) string {
			dir := normal(t)
			git(t, dir, "checkout", "-q", "--detach", "HEAD~1")
			return dirty(t, dir)
		}},
		{"linked worktree", true, true, func(t testing.TB) string {
			dir, linked := normal(t), filepath.Join(t.TempDir(), "linked")
			git(t, dir, "worktree", "add", "-q", "-b", "side", linked)
			return dirty(t, linked)
		}},
		{"submodule", true, true, func(t testing.TB) string {
			inner, dir := normal(t), normal(t)
			git(t, dir, "submodule", "--quiet", "add", inner, "mod")
			commit(t, dir, "with a submodule")
			write(t, dir, "mod/edited.txt", "inside")
			return dirty(t, dir)
		}},
		{"info/exclude", true, true, func(t testing.TB) string {
			dir := dirty(t, normal(t))
			write(t, dir, ".git/info/exclude", "new/\n")
			return dir
		}},
		{"core.excludesFile", true, true, func(t testing.TB) string {
			dir := dirty(t, normal(t))
			write(t, dir, ".git/mine", "new/\n")
			git(t, dir, "config", "core.excludesFile", filepath.Join(dir, ".git/mine"))
			return dir
		}},
		{"fileMode=false", true, true, func(t testing.TB) string {
			dir := normal(t)
			git(t, dir, "config", "core.fileMode", "false")
			if err := os.Chmod(filepath.Join(dir, "kept.txt"), 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"branch named (detached)", true, true, func(t testing.TB) string {
			dir := normal(t)
			git(t, dir, "checkout", "-q", "-b", "(detached)")
			return dir
		}},
	}
}

func unusual() []repo {
	return []repo{
		{"worktreeConfig", false, false, func(t testing.TB) string {
			dir := normal(t)
			git(t, dir, "config", "core.repositoryFormatVersion", "1")
			git(t, dir, "config", "extensions.worktreeConfig", "true")
			git(t, dir, "config", "--worktree", "core.untrackedCache", "false")
			return dirty(t, dir)
		}},
		{"sha256", false, false, func(t testing.TB) string { return dirty(t, normal(t, "--object-format=sha256")) }},
		{"partial clone", true, true, partialClone},
		{"partial clone by extension", false, false, func(t testing.TB) string {
			dir := partialClone(t)
			git(t, dir, "config", "extensions.partialClone", "origin")
			return dir
		}},
		{"shared clone", true, false, func(t testing.TB) string {
			dir := filepath.Join(t.TempDir(), "clone")
			git(t, t.TempDir(), "clone", "-q", "--shared", normal(t), dir)
			return dirty(t, dir)
		}},
		{"shallow", true, false, func(t testing.TB) string {
			dir := filepath.Join(t.TempDir(), "clone")
			git(t, t.TempDir(), "clone", "-q", "--depth=1", "file://"+filepath.ToSlash(normal(t)), dir)
			return dirty(t, dir)
		}},
		{"split index", true, true, func(t testing.TB) string {
			dir := dirty(t, normal(t))
			git(t, dir, "update-index", "--split-index")
			return dir
		}},
		{"no commit", false, false, func(t testing.TB) string {
			dir := t.TempDir()
			git(t, dir, "init", "-q")
			write(t, dir, "a", "a")
			return dir
		}},
		{"conflict", true, true, func(t testing.TB) string {
			dir := normal(t)
			git(t, dir, "checkout", "-q", "-b", "side")
			write(t, dir, "kept.txt", "theirs\n")
			commit(t, dir, "theirs")
			git(t, dir, "checkout", "-q", "main")
			write(t, dir, "kept.txt", "ours\n")
			commit(t, dir, "ours")
			if out, err := tryGit(t.Context(), dir, "merge", "-q", "side"); err == nil {
				t.Fatalf("no conflict: %s", out)
			}
			return dir
		}},
		{"merged", true, false, func(t testing.TB) string {
			dir := normal(t)
			git(t, dir, "checkout", "-q", "-b", "side", "HEAD~1")
			commit(t, dir, "theirs")
			git(t, dir, "checkout", "-q", "main")
			git(t, dir, "merge", "-q", "--no-ff", "-m", "joined", "side")
			return dir
		}},
		{"symlinks", true, true, func(t testing.TB) string {
			dir := normal(t)
			if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
				t.Skip(err)
			}
			commit(t, dir, "a link")
			_ = os.Remove(filepath.Join(dir, "out"))
			_ = os.Symlink("sub", filepath.Join(dir, "out"))
			_ = os.Symlink("nowhere", filepath.Join(dir, "dangling"))
			return dir
		}},
		{"symbolic HEAD link", false, true, func(t testing.TB) string {
			dir := normal(t)
			head := filepath.Join(dir, ".git", "HEAD")
			_ = os.Remove(head)
			if err := os.Symlink("refs/heads/main", head); err != nil {
				t.Skip(err)
			}
			return dir
		}},
		{"odd names", true, true, oddNames},
		{"odd messages", true, true, oddMessages},
		{"long subject", true, false, func(t testing.TB) string {
			dir := normal(t)
			write(t, dir, "message", strings.Repeat("x", 200_000))
			git(t, dir, "commit", "-q", "--allow-empty", "-F", "message")
			return dir
		}},
		{"other encoding", true, false, func(t testing.TB) string {
			dir := normal(t)
			git(t, dir, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "caf\xe9")
			return dir
		}},
	}
}

func partialClone(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, t.TempDir(), "clone", "-q", "--filter=blob:none", "file://"+filepath.ToSlash(normal(t)), dir)
	return dirty(t, dir)
}

func oddNames(t testing.TB) string {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	names := []string{"two\nlines", "quo\"te", "tab\there", " blank", "-dash", "ünïcode", "back\\slash", "R100", "1 .M N...", ":(top)x"}
	if runtime.GOOS == "linux" {
		names = append(names, "bad\xff\xfebytes")
	}
	for _, name := range names {
		write(t, dir, name, "content of "+name+"\nmore\nand more\n")
	}
	commit(t, dir, "names")
	for i, name := range names {
		switch i % 3 {
		case 0:
			git(t, dir, "mv", "--", name, "moved "+name)
		case 1:
			write(t, dir, name, "edited\n")
		case 2:
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
	write(t, dir, "un\ntracked\"", "x")
	return dir
}

func oddMessages(t testing.TB) string {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	for _, message := range []string{
		"plain", "two\nlines of subject\n\nbody", "\n\n  indented, after blank lines", "trailing blanks  \t\r\n next  \n\nbody",
		"tab\tinside", "", "   ", "bad \xff bytes", "\x1b[31mred\x1b[0m", "only\r\n\r\ncarriage",
	} {
		git(t, dir, "commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-m", message)
	}
	git(t, dir, "-c", "user.name= Odd  O'Name. ", "-c", "user.email=x y", "commit", "-q", "--allow-empty", "-m", "a name")
	return dir
}

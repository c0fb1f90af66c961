package git

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
func git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	out, err := tryGit(tb.Context(), dir, args...)
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
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

func write(tb testing.TB, dir, name, text string) {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func commit(tb testing.TB, dir, message string) {
	tb.Helper()
	git(tb, dir, "add", "-A")
	git(tb, dir, "commit", "-q", "--allow-empty", "-m", message)
}

// normal is an ordinary repository with a little history and one change of every kind.
func normal(tb testing.TB, options ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	git(tb, dir, append([]string{"init", "-q"}, options...)...)
	for _, name := range []string{"kept.txt", "edited.txt", "gone.txt", "moved.txt", "sub/deep.txt"} {
		write(tb, dir, name, "first line of "+name+"\nsecond\nthird\n")
	}
	commit(tb, dir, "T1: first\n\nbody")
	write(tb, dir, "kept.txt", "changed\n")
	commit(tb, dir, "T2: second\nstill the subject")
	return dir
}

// dirty leaves one uncommitted change of every kind.
func dirty(tb testing.TB, dir string) string {
	tb.Helper()
	write(tb, dir, "edited.txt", "edited and longer than before\n")
	write(tb, dir, "new/untracked.txt", "x")
	write(tb, dir, "staged.txt", "x")
	git(tb, dir, "add", "staged.txt")
	git(tb, dir, "rm", "-q", "gone.txt")
	git(tb, dir, "mv", "moved.txt", "elsewhere.txt")
	return dir
}

// repo is one repository to read, and whether go-git is known to read its references and its commits.
type repo struct {
	name string
	refs bool
	make func(t testing.TB) string
}

// repositories are what people have, and what agents leave.
func repositories() []repo {
	return append(ordinary(), unusual()...)
}

func ordinary() []repo {
	return []repo{
		{"normal", true, func(tb testing.TB) string {
			tb.Helper()
			return dirty(tb, normal(tb))
		}},
		{"packed", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			git(tb, dir, "gc", "-q")
			return dirty(tb, dir)
		}},
		{"index v4", true, func(tb testing.TB) string {
			tb.Helper()
			dir := dirty(tb, normal(tb))
			git(tb, dir, "update-index", "--index-version", "4")
			return dir
		}},
		{"untracked cache", true, func(tb testing.TB) string {
			tb.Helper()
			dir := dirty(tb, normal(tb))
			git(tb, dir, "update-index", "--untracked-cache")
			return dir
		}},
		{"detached", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			git(tb, dir, "checkout", "-q", "--detach", "HEAD~1")
			return dirty(tb, dir)
		}},
		{"linked worktree", true, func(tb testing.TB) string {
			tb.Helper()
			dir, linked := normal(tb), filepath.Join(tb.TempDir(), "linked")
			git(tb, dir, "worktree", "add", "-q", "-b", "side", linked)
			return dirty(tb, linked)
		}},
		{"submodule", true, func(tb testing.TB) string {
			tb.Helper()
			inner, dir := normal(tb), normal(tb)
			git(tb, dir, "submodule", "--quiet", "add", inner, "mod")
			commit(tb, dir, "with a submodule")
			write(tb, dir, "mod/edited.txt", "inside")
			return dirty(tb, dir)
		}},
		{"info/exclude", true, func(tb testing.TB) string {
			tb.Helper()
			dir := dirty(tb, normal(tb))
			write(tb, dir, ".git/info/exclude", "new/\n")
			return dir
		}},
		{"core.excludesFile", true, func(tb testing.TB) string {
			tb.Helper()
			dir := dirty(tb, normal(tb))
			write(tb, dir, ".git/mine", "new/\n")
			git(tb, dir, "config", "core.excludesFile", filepath.Join(dir, ".git/mine"))
			return dir
		}},
		{"fileMode=false", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			git(tb, dir, "config", "core.fileMode", "false")
			if err := os.Chmod(filepath.Join(dir, "kept.txt"), 0o700); err != nil {
				tb.Fatal(err)
			}
			return dir
		}},
		{"branch named (detached)", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			git(tb, dir, "checkout", "-q", "-b", "(detached)")
			return dir
		}},
	}
}

func unusual() []repo {
	return []repo{
		{"worktreeConfig", false, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			git(tb, dir, "config", "core.repositoryFormatVersion", "1")
			git(tb, dir, "config", "extensions.worktreeConfig", "true")
			git(tb, dir, "config", "--worktree", "core.untrackedCache", "false")
			return dirty(tb, dir)
		}},
		{"sha256", false, func(tb testing.TB) string {
			tb.Helper()
			return dirty(tb, normal(tb, "--object-format=sha256"))
		}},
		{"partial clone", true, partialClone},
		{"partial clone by extension", false, func(tb testing.TB) string {
			tb.Helper()
			dir := partialClone(tb)
			git(tb, dir, "config", "extensions.partialClone", "origin")
			return dir
		}},
		{"shared clone", true, func(tb testing.TB) string {
			tb.Helper()
			dir := filepath.Join(tb.TempDir(), "clone")
			git(tb, tb.TempDir(), "clone", "-q", "--shared", normal(tb), dir)
			return dirty(tb, dir)
		}},
		{"shallow", true, func(tb testing.TB) string {
			tb.Helper()
			dir := filepath.Join(tb.TempDir(), "clone")
			git(tb, tb.TempDir(), "clone", "-q", "--depth=1", "file://"+filepath.ToSlash(normal(tb)), dir)
			return dirty(tb, dir)
		}},
		{"split index", true, func(tb testing.TB) string {
			tb.Helper()
			dir := dirty(tb, normal(tb))
			git(tb, dir, "update-index", "--split-index")
			return dir
		}},
		{"no commit", false, func(tb testing.TB) string {
			tb.Helper()
			dir := tb.TempDir()
			git(tb, dir, "init", "-q")
			write(tb, dir, "a", "a")
			return dir
		}},
		{"conflict", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			git(tb, dir, "checkout", "-q", "-b", "side")
			write(tb, dir, "kept.txt", "theirs\n")
			commit(tb, dir, "theirs")
			git(tb, dir, "checkout", "-q", "main")
			write(tb, dir, "kept.txt", "ours\n")
			commit(tb, dir, "ours")
			if out, err := tryGit(tb.Context(), dir, "merge", "-q", "side"); err == nil {
				tb.Fatalf("no conflict: %s", out)
			}
			return dir
		}},
		{"merged", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			git(tb, dir, "checkout", "-q", "-b", "side", "HEAD~1")
			commit(tb, dir, "theirs")
			git(tb, dir, "checkout", "-q", "main")
			git(tb, dir, "merge", "-q", "--no-ff", "-m", "joined", "side")
			return dir
		}},
		{"symlinks", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
				tb.Skip(err)
			}
			commit(tb, dir, "a link")
			_ = os.Remove(filepath.Join(dir, "out"))
			_ = os.Symlink("sub", filepath.Join(dir, "out"))
			_ = os.Symlink("nowhere", filepath.Join(dir, "dangling"))
			return dir
		}},
		{"symbolic HEAD link", false, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			head := filepath.Join(dir, ".git", "HEAD")
			_ = os.Remove(head)
			if err := os.Symlink("refs/heads/main", head); err != nil {
				tb.Skip(err)
			}
			return dir
		}},
		{"odd names", true, oddNames},
		{"odd messages", true, oddMessages},
		{"long subject", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			write(tb, dir, "message", strings.Repeat("x", 200_000))
			git(tb, dir, "commit", "-q", "--allow-empty", "-F", "message")
			return dir
		}},
		{"other encoding", true, func(tb testing.TB) string {
			tb.Helper()
			dir := normal(tb)
			git(tb, dir, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "caf\xe9")
			return dir
		}},
	}
}

func partialClone(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "clone")
	git(tb, tb.TempDir(), "clone", "-q", "--filter=blob:none", "file://"+filepath.ToSlash(normal(tb)), dir)
	return dirty(tb, dir)
}

func oddNames(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	git(tb, dir, "init", "-q")
	names := []string{"two\nlines", "quo\"te", "tab\there", " blank", "-dash", "ünïcode", "back\\slash", "R100", "1 .M N...", ":(top)x"}
	if runtime.GOOS == "linux" {
		names = append(names, "bad\xff\xfebytes")
	}
	for _, name := range names {
		write(tb, dir, name, "content of "+name+"\nmore\nand more\n")
	}
	commit(tb, dir, "names")
	for i, name := range names {
		switch i % 3 {
		case 0:
			git(tb, dir, "mv", "--", name, "moved "+name)
		case 1:
			write(tb, dir, name, "edited\n")
		case 2:
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
	write(tb, dir, "un\ntracked\"", "x")
	return dir
}

func oddMessages(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	git(tb, dir, "init", "-q")
	for _, message := range []string{
		"plain", "two\nlines of subject\n\nbody", "\n\n  indented, after blank lines", "trailing blanks  \t\r\n next  \n\nbody",
		"tab\tinside", "", "   ", "bad \xff bytes", "\x1b[31mred\x1b[0m", "only\r\n\r\ncarriage",
	} {
		git(tb, dir, "commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-m", message)
	}
	git(tb, dir, "-c", "user.name= Odd  O'Name. ", "-c", "user.email=x y", "commit", "-q", "--allow-empty", "-m", "a name")
	return dir
}

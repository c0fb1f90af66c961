package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	base := []string{
		"PATH=/bin", "GIT_DIR=/evil", "GIT_WORK_TREE=/evil", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor",
		"GIT_CONFIG_VALUE_0=/evil", "GIT_CONFIG_PARAMETERS='a=b'", "GIT_INDEX_FILE=/evil", "GIT_EXTERNAL_DIFF=/evil", "LC_ALL=de_DE",
		"GIT_CONFIG_GLOBAL=/home/me/.gitconfig", "GIT_AUTHOR_NAME=Me", "GIT_SSH_COMMAND=ssh -F x",
	}
	got := strings.Join(environment(base, Call{GitDir: "/g", WorkTree: "/w", Env: []string{"GIT_INDEX_FILE=mine"}}), "\n") + "\n"
	for _, want := range []string{
		"PATH=/bin", "GIT_CONFIG_GLOBAL=/home/me/.gitconfig", "GIT_AUTHOR_NAME=Me", "GIT_SSH_COMMAND=ssh -F x",
		"GIT_DIR=/g", "GIT_WORK_TREE=/w", "GIT_INDEX_FILE=mine", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("the environment lacks %s:\n%s", want, got)
		}
	}
	for _, evil := range []string{"/evil", "de_DE", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY", "GIT_CONFIG_PARAMETERS"} {
		if strings.Contains(got, evil) {
			t.Errorf("the environment still has %s:\n%s", evil, got)
		}
	}
	got = strings.Join(environment(base, Call{Writes: true, Hooks: true}), "\n")
	if strings.Contains(got, "OPTIONAL_LOCKS") || !strings.Contains(got, "LC_ALL=de_DE") {
		t.Errorf("a write with hooks has locks off or the locale changed:\n%s", got)
	}
}

// executable is a file with a script that can be started. Nothing is started beside while it is written: that would hold
// it open for writing for a moment, and what is cannot be executed.
func executable(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// What an agent may leave in a repository must not run when relay reads it, or writes without hooks.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	dir := normal(t)
	ran := filepath.Join(t.TempDir(), "ran")
	trap := executable(t, "#!/bin/sh\necho \"$0 $*\" >> "+ran+"\n")
	write(t, dir, ".gitattributes", "*.txt diff=evil\n")
	commit(t, dir, "attributes")
	for _, hook := range []string{"pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-index-change", "reference-transaction", "post-checkout"} {
		if err := os.Symlink(trap, filepath.Join(dir, ".git", "hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "diff.external", "diff.evil.command", "diff.evil.textconv", "core.editor",
		"sequence.editor", "core.askPass", "alias.status", "alias.diff", "pager.log", "pager.status", "pager.diff",
	} {
		git(t, dir, "config", key, trap)
	}
	git(t, dir, "config", "log.showSignature", "true")
	git(t, dir, "config", "gpg.program", trap)
	signed := strings.Replace(git(t, dir, "cat-file", "commit", "HEAD"), "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n", 1)
	write(t, dir, "signed", signed)
	git(t, dir, "update-ref", "HEAD", strings.TrimSpace(git(t, dir, "hash-object", "-t", "commit", "-w", "signed")))
	_ = os.Remove(ran) // git update-ref has run a hook
	g, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "kept.txt", "changed again\n")
	ctx := t.Context()
	var patch strings.Builder
	_, factsErr := g.Facts(ctx, 5)
	_, changesErr := g.Changes(ctx)
	_, namesErr := g.Names(ctx, "HEAD~1", "HEAD")
	_, statErr := g.Stat(ctx, "HEAD~1", "HEAD")
	_, logErr := g.log(ctx, git(t, dir, "rev-parse", "HEAD")[:40], 5)
	_, stateErr := ReadState(ctx, g)
	_, hooksErr := Hooks(ctx, g)
	_, diffErr := g.Run(ctx, Call{Args: []string{"diff", "HEAD", "--", "."}})
	_, addErr := g.Run(ctx, Call{Args: []string{"add", "-A", "--", "."}, Writes: true})
	_, commitErr := g.Run(ctx, Call{Args: []string{"commit", "-q", "-m", "x"}, Writes: true})
	err = errors.Join(factsErr, changesErr, namesErr, statErr, logErr, stateErr, hooksErr, diffErr, addErr, commitErr, g.Patch(ctx, "HEAD~1", "HEAD", &patch, 1<<20))
	if err != nil {
		t.Error(err)
	}
	if said, err := os.ReadFile(ran); err == nil {
		t.Errorf("these ran:\n%s", said)
	}
	if _, err := g.Run(ctx, Call{Args: []string{"commit", "-q", "--allow-empty", "-m", "x"}, Writes: true, Hooks: true}); err != nil {
		t.Error(err)
	}
	if _, err := os.ReadFile(ran); err != nil {
		t.Error("with Hooks the repository's hooks should run")
	}
}

// A replacement object must not change what a reviewer is shown.
func TestReplacedCommitIsNotBelieved(t *testing.T) {
	t.Parallel()
	dir := normal(t)
	git(t, dir, "replace", "HEAD", "HEAD~1")
	g, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	names, err := g.Names(t.Context(), "HEAD~1", "HEAD")
	if err != nil || len(names) != 1 {
		t.Errorf("Names() = %q, %v, want the real commit's one change", names, err)
	}
}

func TestRunStops(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it looks into /proc")
	}
	dir := t.TempDir()
	// An editor that never ends, and does not care about being asked to.
	script := executable(t, "#!/bin/sh\ntrap '' TERM\necho $$\nsleep 600 & wait; wait\n")
	git(t, dir, "init", "-q")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	pid := ""
	_, err := Run(ctx, Call{
		Dir: dir, Args: []string{"commit", "--allow-empty"}, Env: []string{"GIT_EDITOR=" + script}, Writes: true,
		Stdout: writerFunc(func(p []byte) (int, error) {
			pid += strings.TrimSpace(string(p))
			cancel(cause)
			return len(p), nil
		}),
	})
	if !errors.Is(err, cause) {
		t.Errorf("Run = %v, want the cause of the cancellation", err)
	}
	for line, deadline := []byte("?"), time.Now().Add(time.Minute); len(line) > 0; runtime.Gosched() {
		line, _ = os.ReadFile(filepath.Join("/proc", pid, "cmdline")) // empty when it is gone, or waits to be reaped
		if time.Now().After(deadline) {
			t.Fatalf("process %s is still there: %q", pid, line)
		}
	}
	if _, err := Run(t.Context(), Call{Dir: dir, Args: []string{"--version"}, Wall: time.Nanosecond}); !errors.Is(err, errWall) {
		t.Errorf("Run beyond its wall = %v", err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestRunBoundsOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, "big", strings.Repeat("0123456789abcdef\n", 1<<16))
	commit(t, dir, "big")
	_, err := Run(t.Context(), Call{Dir: dir, Args: []string{"cat-file", "blob", "HEAD:big"}, Limit: 1000})
	if !errors.Is(err, ErrTooMuch) {
		t.Errorf("Run = %v, want ErrTooMuch", err)
	}
	_, err = Run(t.Context(), Call{Dir: dir, Args: []string{"no-such-command"}})
	var e *Error
	if !errors.As(err, &e) || e.Code != 1 || !strings.Contains(e.Error(), "no-such-command") {
		t.Errorf("Run = %v, want a GitError with status 1", err)
	}
}

// A caller's own settings stand before the subcommand; they hide it neither from messages nor from what keeps the
// repository's diff programs out.
func TestRunWithSettings(t *testing.T) {
	t.Parallel()
	dir := normal(t)
	trap := filepath.Join(t.TempDir(), "trap")
	git(t, dir, "config", "diff.external", "touch "+trap+"; false")
	out, err := Run(t.Context(), Call{Dir: dir, Args: []string{"-c", "advice.detachedHead=false", "diff", "HEAD~1", "HEAD"}})
	if err != nil || !strings.Contains(string(out), "diff --git") {
		t.Errorf("Run = %q, %v, want a diff of git's own", out, err)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("the repository's diff program ran")
	}
	_, err = Run(t.Context(), Call{Dir: dir, Args: []string{"-c", "gc.auto=0", "-c", "core.bare=false", "rev-parse", "--verify", "nothing"}})
	if err == nil || !strings.HasPrefix(err.Error(), "git rev-parse: ") {
		t.Errorf("Run = %v, want the subcommand named", err)
	}
}

func TestManyChangesAreCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	for i := range factsChanges + 7 {
		name := filepath.Join(dir, "f"+strings.Repeat("x", i%5)+string(rune('a'+i%26))+time.Duration(i).String())
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := g.Facts(t.Context(), 1)
	if err != nil || len(facts.Changes) != factsChanges || facts.More != 7 {
		t.Errorf("Facts() lists %d changes and %d more, %v", len(facts.Changes), facts.More, err)
	}
	kept := keeper{max: 2}
	for range 5 {
		_ = kept.visit(Change{})
	}
	var many *TooManyError
	if some, err := kept.all(); len(some) != 2 || !errors.As(err, &many) || many.Rest != 3 {
		t.Errorf("a full keeper gives %d changes, %v", len(some), err)
	}
}

func TestCachedAsksOncePerInterval(t *testing.T) {
	t.Parallel()
	asked, broken := 0, errors.New("broken")
	var fails error
	now := time.Date(2026, 1, 11, 22, 0, 0, 0, time.UTC)
	c := &Cached{every: time.Minute, now: func() time.Time { return now }, ask: func(context.Context) (Facts, error) {
		asked++
		return Facts{More: asked}, fails
	}}
	steps := []struct {
		after time.Duration
		fails error
		want  int // times asked so far
	}{
		{0, nil, 1},
		{59 * time.Second, nil, 1},
		{2 * time.Second, nil, 2},
		{-time.Hour, nil, 3},
		{2 * time.Hour, broken, 4},
		{0, nil, 5},
		{0, nil, 5},
	}
	for i, s := range steps {
		now, fails = now.Add(s.after), s.fails
		f, err := c.Facts(t.Context())
		if asked != s.want || !errors.Is(err, s.fails) || err == nil && f.More != s.want {
			t.Errorf("step %d: asked %d times, %+v, %v, want %d times, %v", i, asked, f, err, s.want, s.fails)
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	dir := normal(t)
	write(t, dir, ".git/hooks/commit-msg", "#!/bin/sh\n")
	_ = os.Chmod(filepath.Join(dir, ".git/hooks/commit-msg"), 0o700)
	write(t, dir, ".git/hooks/pre-push.sample", "#!/bin/sh\n")
	git(t, dir, "config", "user.useConfigOnly", "true")
	git(t, dir, "config", "user.name", "")
	check := func(dir string) (s State, hooks string) {
		t.Helper()
		g, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err = ReadState(t.Context(), g)
		names, failed := Hooks(t.Context(), g)
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		return s, strings.Join(names, " ")
	}
	if got, hooks := check(dir); got.Partial || got.Sparse || got.NoIdentity == "" || hooks != "commit-msg" {
		t.Errorf("%+v and the hooks %q, want no identity and one hook", got, hooks)
	}
	for _, r := range repositories() {
		if got, hooks := check(r.make(t)); got.Partial != strings.HasPrefix(r.name, "partial clone") || got.NoIdentity != "" || hooks != "" {
			t.Errorf("%s: %+v and the hooks %q", r.name, got, hooks)
		}
	}
}

// A filter that an agent has configured learns nothing that the agent was not given.
func TestFiltersSeeLittle(t *testing.T) {
	t.Setenv("MY_TOKEN", "swordfish")
	t.Setenv("GIT_COMMITTER_NAME", "Me")
	dir := normal(t)
	git(t, dir, "config", "filter.evil.smudge", `echo "$MY_TOKEN $GIVEN $GIT_COMMITTER_NAME"; cat > /dev/null`)
	write(t, dir, ".gitattributes", "x filter=evil\n")
	write(t, dir, "x", "x\n")
	commit(t, dir, "x")
	whole, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	narrow := whole.Within([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GIVEN=given"})
	for want, repo := range map[string]*Repo{"swordfish  Me": whole, " given Me": narrow, " given Me ": narrow.Borrower(dir, filepath.Join(dir, ".git"))} {
		if err := os.Remove(filepath.Join(dir, "x")); err != nil {
			t.Fatal(err)
		}
		if _, err := repo.Run(t.Context(), Call{Writes: true, Args: []string{"checkout", "-f", "--", "x"}}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "x")); err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
			t.Errorf("the filter has seen %q, want %q (%v)", got, want, err)
		}
	}
}

// A log that is longer than what is read of one ends with a whole commit.
func TestLongLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	subject := strings.Repeat("x", 100_000) // which no pipe takes at once
	many := exec.Command("git", "fast-import", "--quiet")
	many.Dir = dir
	many.Stdin = strings.NewReader(strings.Repeat("commit refs/heads/many\ncommitter A <a@b> 1 +0000\ndata 100000\n"+subject+"\n", 20))
	if out, err := many.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	git(t, dir, "symbolic-ref", "HEAD", "refs/heads/many")
	repo, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := repo.log(t.Context(), head, 20)
	if err != nil || len(found) != logBytes/100_000 {
		t.Errorf("got %d commits (%v), want %d", len(found), err, logBytes/100_000)
	}
}

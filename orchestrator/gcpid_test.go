package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// While a run works, git gc lets everything be, whoever types it and in whatever worktree; afterwards it goes on as ever.
func TestGitGCWaitsForTheRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	loose := l.Sh("echo nobody knows this | git hash-object -w --stdin; git worktree add -q ../beside")
	run, err := occupy(t.Context(), l.c.o)
	if err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]string{
		"as it was": "true", "removed": "rm .git/gc.pid", "another that is dead": "echo 4194999 $(hostname) > .git/gc.pid", "nonsense": "echo -n > .git/gc.pid",
		"old": "touch -d yesterday .git/gc.pid", "all of it": "cp -r .git copy; rm -rf .git; mv copy .git",
	} {
		l.Sh(harm)
		if err := run.keep(t.Context()); err != nil {
			t.Error(err)
		}
		for _, dir := range []string{".", "../beside"} {
			said := l.Sh("cd " + dir + "; git gc -q --prune=now 2>&1 || true; git gc --auto 2>&1; git cat-file -e " + loose)
			if !strings.Contains(said, "gc is already running on machine") {
				t.Errorf("%s, in %s: git gc says %q", name, dir, said)
			}
		}
	}
	if err := run.leave(); err != nil {
		t.Fatal(err)
	}
	if said := l.Sh("git gc -q --prune=now; git cat-file -e " + loose + " 2>/dev/null || echo gone"); said != "gone" {
		t.Errorf("after the run: %q", said)
	}
}

// Whose turn it is at git gc's lock is git's to say: a run waits for its own.
func TestGitGCOfAnother(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	alive := strconv.Itoa(os.Getppid())
	for name, c := range map[string]struct {
		says string
		age  time.Duration
		left bool
	}{
		"at it":                {alive + " " + host, 0, true},
		"for a long time":      {alive + " " + host, 11 * time.Hour, true},
		"for too long":         {alive + " " + host, 13 * time.Hour, false},
		"dead":                 {"4194999 " + host, 0, false},
		"elsewhere":            {"4194999 another-" + host, 0, true},
		"elsewhere, long over": {"4194999 another-" + host, 13 * time.Hour, false},
		"no pid":               {"x " + host, 0, false},
		"no host":              {alive, 0, false},
		"a group of processes": {"-1 " + host, 0, false},
		"empty":                {"", 0, false},
	} {
		path := filepath.Join(t.TempDir(), "gc.pid")
		at := time.Now().Add(-c.age)
		if err := os.WriteFile(path, []byte(c.says), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		g := gcHold{path}
		g.keep()
		want := fmt.Sprintf("%d %s", os.Getpid(), host)
		if c.left {
			want = c.says
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: it says %q (%v), want %q", name, got, err, want)
		}
		g.leave()
		if _, err := os.Lstat(path); (err == nil) != c.left {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/guard"
)

// Side by side, two attempts that end at once share the guard and the copy of .git.
func TestSharedGuard(t *testing.T) {
	t.Parallel()
	l := newLab(t, `rm -rf .git; echo x > "$RELAY_TASK"`)
	l.c.run.o.Isolation, l.c.run.o.Jobs, l.c.c.tree = engine.IsolationShared, 4, nil
	l.begin()
	var all sync.WaitGroup
	for _, id := range []string{"T1", "T2", "T3", "T4"} {
		all.Go(func() {
			a := engine.Attempt{Run: l.c.run.o.Run, Task: epic.Task{ID: id, Title: id}, Number: 1, Runner: "sh"}
			f, err := l.c.Run(t.Context(), a)
			if err != nil || f.Gate != "" {
				t.Errorf("%s: %s %q, gate %q (%v)", id, f.Outcome, f.Receipt.ErrorSummary, f.Gate, err)
			}
		})
	}
	all.Wait()
	if got := l.Git("log", "--format=%s"); got != "Begin" {
		t.Errorf("the log is %s", got)
	}
}

// git does not wait for a pipe that an agent has put where it looks for settings.
func TestPipeInTheUsersCheckout(t *testing.T) {
	t.Parallel()
	for _, isolation := range []engine.Isolation{engine.IsolationShared, engine.IsolationNone} {
		l := newLab(t, `rm -f .gitignore; mkfifo .gitignore; echo x > work.txt`)
		if l.c.run.o.Isolation = isolation; isolation == engine.IsolationShared {
			l.c.c.tree = nil
		}
		l.begin()
		a := engine.Attempt{Run: l.c.run.o.Run, Task: epic.Task{ID: "T1", Title: "T1"}, Number: 1, Runner: "sh", Base: l.Git("rev-parse", "HEAD")}
		if _, err := l.c.Run(t.Context(), a); err != nil {
			t.Errorf("%s: %v", isolation, err)
		}
		if _, err := l.c.c.state(t.Context()); err != nil { // as the next attempt asks
			t.Errorf("%s: %v", isolation, err)
		}
		if l.Sh("test ! -p .gitignore || echo pipe") != "" {
			t.Errorf("%s: the pipe is there", isolation)
		}
	}
}

// A run that is stopped before its agent begins leaves nothing open and charges nobody.
func TestStoppedBeforeTheAgent(t *testing.T) {
	t.Parallel()
	said := map[string]string{"brief": "stopped before the agent began", "baseline": "the run was stopped while check ran"}
	for name, checks := range map[string][]epic.Check{"brief": nil, "baseline": {{Name: "check", Run: "sleep 60", Expect: epic.ExpectRedThenGreen}}} {
		l := newLab(t, "echo x > work.txt").begin()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("interrupted"))
		f, err := l.c.Run(ctx, engine.Attempt{Run: l.c.run.o.Run, Task: epic.Task{ID: "T1", Checks: checks}, Number: 1, Runner: "sh", Base: l.Git("rev-parse", "HEAD")})
		if err != nil || f.Outcome != attempts.Stopped {
			t.Errorf("%s: got %s (%v), want stopped", name, f.Outcome, err)
		}
		if f.Receipt.ErrorSummary != said[name] {
			t.Errorf("%s: got %q, want %q", name, f.Receipt.ErrorSummary, said[name])
		}
		l.Wants(map[string]string{"work.txt": "-"})
	}
}

// BenchmarkVault brings the copy of a repository with 20,000 loose objects up to date again.
func BenchmarkVault(b *testing.B) {
	git := filepath.Join(b.TempDir(), ".git")
	for i := range 20_000 {
		name := fmt.Sprintf("%02x/%038x", i%256, i)
		if err := errors.Join(os.MkdirAll(filepath.Join(git, "objects", name[:2]), 0o755), os.WriteFile(filepath.Join(git, "objects", name), nil, 0o444)); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	v := &guard.Backup{GitDir: git, Store: filepath.Join(b.TempDir(), "copy")}
	for b.Loop() {
		if err := v.Save(); err != nil {
			b.Fatal(err)
		}
	}
}

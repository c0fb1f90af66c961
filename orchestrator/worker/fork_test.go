package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// fork has a script work on a prompt at a commit.
func (l *lab) fork(base, prompt, script string) (engine.Result, []string) {
	l.Helper()
	o := l.slotOptions()
	o.Worktree.Dir = filepath.Join(o.Dir, "forks", "f1")
	o.Epic = &epic.Epic{ID: "20260101-lab", Title: "lab", Checks: checksOf([]string{"false"})}
	local, err := Open(l.Context(), o, make(chan engine.Event, 100))
	if err != nil {
		l.Fatal(err)
	}
	local.SetLedger(noLedger{}, nil)
	r, stay, err := local.Fork(l.Context(), engine.Attempt{
		Run: o.Run, Task: epic.Task{ID: "fork-f1", Title: "Another way", AllowNoChange: true}, Number: 1, Runner: script, Base: base, Prompt: prompt,
	})
	if err != nil {
		l.Fatal(err)
	}
	return r, stay
}

func TestFork(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	base := l.Git("rev-parse", "HEAD")
	r, stay := l.fork(base, "Try it the other way.", `cat "$RELAY_PROMPT" > told; echo other > way; git add -A; git commit -qm Other`)
	if r.Outcome != attempts.Success || len(stay) > 0 {
		t.Errorf("%s (%s), %q stays", r.Outcome, r.Receipt.ErrorSummary, stay)
	}
	const ref = "refs/relay/20260101-lab/fork-f1/1"
	if r.Receipt.Salvage != ref {
		t.Fatalf("kept as %q, want %s", r.Receipt.Salvage, ref)
	}
	if got := l.Git("show", ref+":told"); strings.TrimSpace(got) != "Try it the other way." {
		t.Errorf("the agent was told %q", got)
	}
	if got := l.Git("rev-parse", "HEAD"); got != base {
		t.Errorf("the user's branch moved to %s", got)
	}
	if got := l.Git("for-each-ref", "--format=%(refname)", "refs/heads"); strings.Contains(got, "relay") {
		t.Errorf("branches are left: %s", got)
	}
	if left, err := os.ReadDir(filepath.Join(l.c.run.o.Dir, "forks", "f1")); err == nil && len(left) > 0 {
		t.Errorf("%s and others are left", left[0])
	}
}

func TestForkThatOnlyAnswers(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	r, _ := l.fork(l.Git("rev-parse", "HEAD"), "Why?", `echo Because.`)
	if r.Outcome != attempts.Success || r.Receipt.Salvage != "" {
		t.Errorf("%s (%s), kept as %q", r.Outcome, r.Receipt.ErrorSummary, r.Receipt.Salvage)
	}
}

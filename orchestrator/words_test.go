package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
)

// What nobody is to blame for is said to be nobody's doing.
func TestWordsForFindings(t *testing.T) {
	t.Parallel()
	f := Finding{theirs: true}
	f.fail(attempts.Agent, attempts.CodeError, "exit status 1")
	f.pardon()
	if want := "somebody committed after the run was killed, and now: exit status 1"; f.Receipt.ErrorSummary != want || f.Outcome.Charged() {
		t.Errorf("got %q (%s), want %q", f.Receipt.ErrorSummary, f.Outcome, want)
	}
	if got, want := (&conflictError{Files: []string{"a", "b"}}).Error(), "merge conflict in a, b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	n := &night{o: &Options{}, now: time.Now}
	a := Assignment{Task: epic.Task{ID: "T1", BudgetUSD: 0.5, MaxAttempts: 9}}
	gate := n.gate(a, attempts.TaskRecord{}, Finding{Usage: attempts.Usage{CostUSD: 0.75}}, attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Agent, Charged: true})
	if gate == nil || gate.Reason != attempts.BudgetExhausted || gate.Detail != "the task's budget is spent: 0.75 of 0.50 USD" {
		t.Errorf("got %+v", gate)
	}
}

func TestWordsForObjects(t *testing.T) {
	t.Parallel()
	if _, err := parseCommit("blob"); err == nil || err.Error() != "git gave something that is no commit" {
		t.Errorf("got %v", err)
	}
	if got, want := withTrailers("", []string{"Relay-Task: T1"}), "(no message)\n\nRelay-Task: T1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	l := newGround(t)
	trunk := newTrunk(l.repo(), "lab", LandingRebase)
	if _, err := trunk.read(t.Context(), []string{"nothing"}); err == nil || err.Error() != "git cat-file says: nothing missing" {
		t.Errorf("got %v", err)
	}
	l.sh(sides + `git checkout -q -b side; add s 1; git checkout -q -b task base; add a 1; git merge -q -m m side; git checkout -q trunk; add t2 x`)
	if _, err := trunk.replay(t.Context(), l.git("rev-parse", "trunk"), l.git("rev-parse", "task"), cargo{}); err == nil || err.Error() != "the work has merges in it" {
		t.Errorf("got %v", err)
	}
	l.sh(`git checkout -q -b one base; echo y > t2; git add t2; git commit -q -m t2`)
	_, err := trunk.replay(t.Context(), l.git("rev-parse", "trunk"), l.git("rev-parse", "one"), cargo{})
	var conflict *conflictError
	if !errors.As(err, &conflict) || !strings.HasPrefix(conflict.Text, "in commit \"t2\":\n") {
		t.Errorf("got %v", err)
	}
	if err := trunk.advance(t.Context(), l.git("rev-parse", "one"), l.git("rev-parse", "task")); err == nil || err.Error() != "the integration branch was moved" {
		t.Errorf("got %v", err)
	}
}

func TestWordsForPlaces(t *testing.T) {
	t.Parallel()
	l := newGround(t)
	empty := &lab{T: t, root: filepath.Join(t.TempDir(), "empty")}
	empty.write("x", "")
	empty.git("init", "-q")
	err := unsuited(t.Context(), empty.repo())
	if want := (RefusedError{"this repository has no commit yet, from which tasks could begin", "git commit --allow-empty -m Begin, then relay work"}); err == nil || err.Error() != want.Reason {
		t.Errorf("got %v, want %+v", err, want)
	}
	v := &vault{gitDir: filepath.Join(l.root, "gone"), store: filepath.Join(l.root, "copy"), aside: filepath.Join(l.root, "seed.txt", "x")}
	l.write("copy/HEAD", "ref: refs/heads/main\n")
	_, err = v.putBack(t.Context(), func() bool { return false })
	if want := "the repository's .git is gone and its copy cannot be put back: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, bare := newYard(t)
	if _, err := bare.path("not mine"); err == nil || err.Error() != `worktree "not mine": not a name` {
		t.Errorf("got %v", err)
	}
	for name, want := range map[string]bool{strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "": false, "..": false} {
		if got := isSiteName(name); got != want {
			t.Errorf("%q may be the name of a worktree: %v", name, got)
		}
	}
	odd := newGround(t)
	odd.write(".git/index", "garbage")
	if got, err := inside(t.Context(), odd.repo()); err != nil || !strings.HasPrefix(got, "git cannot list its files: git ls-files: ") {
		t.Errorf("got %q, %v", got, err)
	}
	release := want[func() error](t)(lockRepository(t.Context(), l.repo()))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrInterrupted)
	if _, err := lockRepository(ctx, l.repo()); err == nil || err.Error() != "wait for the lock of the repository: interrupted" {
		t.Errorf("got %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	y := newYardLab(t)
	if got, want := y.l.since(t.Context(), "no", "where"), "the integration branch"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	path := filepath.Join(y.l.o.Worktree.Dir, "mine")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	stay, err := y.l.close(t.Context())
	if want := "the worktree .agents-os/relay/worktrees/mine was not removed: it is a file"; err != nil || len(stay) != 1 || stay[0] != want {
		t.Errorf("got %q, %v, want %s", stay, err, want)
	}
}

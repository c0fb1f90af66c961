package orchestrator

import (
	"errors"
	"path/filepath"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/reanchor"
)

func oneTask(t *testing.T) (*epic.Epic, *epic.Graph) {
	t.Helper()
	e := &epic.Epic{ID: "20260101-one", Tasks: []epic.Task{{ID: "A"}}}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	return e, g
}

// An agent that removes or changes the lock of the checkout does not let another run in; one that is in by then ends
// this one.
func TestOccupancyIsKept(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	mine, err := occupy(t.Context(), l.c.o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(".git", mine.name)
	for name, harm := range map[string]string{
		"removed": `rm ` + path, "changed": `echo x >> ` + path, "a folder": `rm ` + path + `; mkdir -p ` + path + `/x`, "all of it": `cp -r .git copy; rm -rf .git; mv copy .git`,
	} {
		l.Sh(harm)
		if err := mine.keep(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if who, err := attempts.HeldBy(filepath.Join(l.Root, path)); err != nil || who == nil || who.Epic != l.c.o.Epic.ID || who.Dir != ".agents-os/relay" {
			t.Errorf("%s: held by %v, %v", name, who, err)
		}
	}
	l.Sh(`rm ` + path)
	other := *l.c.o
	other.Run, other.Dir, other.Epic = "20260101T220000Z-0001", filepath.Join(l.Root, "elsewhere"), &epic.Epic{ID: "20260101-other"}
	theirs, err := occupy(t.Context(), &other)
	if err != nil {
		t.Fatal(err)
	}
	var inUse *InUseError
	if err := mine.keep(t.Context()); !errors.As(err, &inUse) {
		t.Errorf("somebody else is in: got %v", err)
	}
	if err := errors.Join(theirs.leave(), mine.leave()); err != nil {
		t.Error(err)
	}
}

// A checkout in which a run works is occupied until that is over.
func TestUnoccupied(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	run, err := occupy(t.Context(), l.c.o)
	if err != nil {
		t.Fatal(err)
	}
	var inUse *InUseError
	if err := Unoccupied(l.Open()); !errors.As(err, &inUse) || inUse.Held.Holder.Epic != l.c.o.Epic.ID {
		t.Errorf("got %v", err)
	}
	o, ledger := *l.c.o, &attempts.Ledger{}
	_, o.Graph = oneTask(t)
	o.Isolation = engine.IsolationShared
	if err := Refuses(t.Context(), runOptions(o), ledger); !errors.As(err, &inUse) {
		t.Errorf("a run beside it: got %v", err)
	}
	if err := errors.Join(run.leave(), Unoccupied(l.Open()), Refuses(t.Context(), runOptions(o), ledger)); err != nil {
		t.Errorf("when the run is over: %v", err)
	}
	if run, err = occupy(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Refuses(t.Context(), runOptions(o), ledger), run.leave()); err != nil {
		t.Errorf("both shared: %v", err)
	}
}

// Who leaves the checkout alone needs no lock of it, but one of its epic: two runs of one id would use the same branches
// and refs, in whatever checkout of the repository they are.
func TestEpicIsHeld(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.Sh("git worktree add -q ../beside")
	o := *l.c.o
	o.Isolation = engine.IsolationWorktree
	mine, err := occupy(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	lock := ".git/relay-epic-20260101-lab.lock"
	if locks, _ := filepath.Glob(filepath.Join(l.Root, ".git", "relay-*")); len(locks) != 1 || locks[0] != filepath.Join(l.Root, lock) {
		t.Errorf("the locks are %v", locks)
	}
	beside := filepath.Join(filepath.Dir(l.Root), "beside")
	other := o
	other.Root, other.Dir = beside, filepath.Join(beside, ".agents-os", "relay")
	if other.Repo, err = reanchor.OpenGit(t.Context(), beside); err != nil {
		t.Fatal(err)
	}
	_, other.Graph = oneTask(t)
	for name, harm := range map[string]string{
		"as it was": "true", "removed": "rm " + lock, "changed": "echo x >> " + lock, "a folder": "rm " + lock + "; mkdir -p " + lock + "/x", "all of it": "cp -r .git copy; rm -rf .git; mv copy .git",
	} {
		l.Sh(harm)
		if err := mine.keep(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := occupy(t.Context(), &other)
		for _, err := range []error{err, Refuses(t.Context(), runOptions(other), &attempts.Ledger{})} {
			var inUse *InUseError
			if !errors.As(err, &inUse) || !inUse.Epic || inUse.Held.Holder.Dir != o.Dir {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
	var inUse *InUseError
	if _, err := occupy(t.Context(), &o); err == nil || errors.As(err, &inUse) {
		t.Errorf("another run of the same ledger: got %v", err)
	}
	l.Sh("mv .git away")
	if err := mine.keep(t.Context()); err != nil {
		t.Errorf("without .git: %v", err)
	}
	l.Sh("mv away .git")
	if err := errors.Join(mine.keep(t.Context()), mine.leave()); err != nil {
		t.Error(err)
	}
	theirs, err := occupy(t.Context(), &other)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.keep(t.Context()); !errors.As(err, &inUse) {
		t.Errorf("somebody else has it: got %v", err)
	}
	inUse.Held.Holder.PID = 0
	if want := "the epic is worked in " + other.Dir + ": held by another process"; inUse.Error() != want {
		t.Errorf("got %q, want %q", inUse.Error(), want)
	}
	if err := theirs.leave(); err != nil {
		t.Error(err)
	}
	if locks, _ := filepath.Glob(filepath.Join(l.Root, ".git", "relay-*")); len(locks) > 0 {
		t.Errorf("locks stay: %v", locks)
	}
}

// runOptions are those of a run with such an engine.
func runOptions(o engine.Options) Options {
	return Options{Epic: o.Epic, Graph: o.Graph, Root: o.Root, Repo: o.Repo, Dir: o.Dir, Run: o.Run, Isolation: o.Isolation, Env: o.Env, Supervisor: o.Supervisor}
}

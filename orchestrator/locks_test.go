package orchestrator

import (
	"errors"
	"path/filepath"
	"testing"

	"relay/attempts"
)

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
	other.Run, other.Dir = "20260101T220000Z-0001", filepath.Join(l.Root, "elsewhere")
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
	_, o.Graph = planOf(t, sixTasks)
	o.Isolation = IsolationShared
	if err := Refuses(t.Context(), o, ledger); !errors.As(err, &inUse) {
		t.Errorf("a run beside it: got %v", err)
	}
	if err := errors.Join(run.leave(), Unoccupied(l.Open()), Refuses(t.Context(), o, ledger)); err != nil {
		t.Errorf("when the run is over: %v", err)
	}
	if run, err = occupy(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Refuses(t.Context(), o, ledger), run.leave()); err != nil {
		t.Errorf("both shared: %v", err)
	}
}

// Who leaves the checkout alone needs no lock of it.
func TestOccupancyOfNobody(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	o := *l.c.o
	o.Isolation = "worktree"
	c, err := occupy(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	if entries, _ := filepath.Glob(filepath.Join(l.Root, ".git", "relay-*")); len(entries) > 0 {
		t.Errorf("locks are there: %v", entries)
	}
	if err := errors.Join(c.keep(t.Context()), c.leave()); err != nil {
		t.Error(err)
	}
}

package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"relay/attempts"
	"relay/epic"
)

// What git could not do while a neighbour had removed .git ends no run, and the work is kept. Another error is one.
func TestSurvivesANeighbour(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	a := Assignment{Run: y.l.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Attempt: 1}
	base, err := y.l.Prepare(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	a.Base = base
	w, err := y.l.open(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.takeStock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.c.repo.Root(), "work"), []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("git failed")
	if _, err := y.l.survive(t.Context(), a, Finding{}, 0, cause); !errors.Is(err, cause) {
		t.Errorf("with .git in place: %v, want %v", err, cause)
	}
	if err := os.RemoveAll(y.l.home.CommonDir()); err != nil {
		t.Fatal(err)
	}
	f, err := y.l.survive(t.Context(), a, Finding{}, 0, cause)
	const why = "the repository's .git was damaged or removed during the attempt, and has been put back"
	if err != nil || f.Outcome != attempts.Environment || f.Receipt.ErrorSummary != why {
		t.Fatalf("got %s (%s), %v; want %s (%s)", f.Outcome, f.Receipt.ErrorSummary, err, attempts.Environment, why)
	}
	if got := y.Git("show", f.Receipt.Salvage+":work"); got != "precious" && got != "precious\n" {
		t.Errorf("kept: %q", got)
	}
}

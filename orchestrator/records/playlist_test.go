package records

import (
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
)

const storePlan = `version: 2
id: 20260111-store
title: The store keeps orders
tasks:
  T1: {title: Store orders, kind: bugfix}
`

// inList is the start of a run of an epic of a playlist.
func inList(id, base, tip string) attempts.Event {
	return attempts.Event{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{
		Version: attempts.LogVersion, EpicID: id, Integration: "relay/" + id, Branch: "main", Base: base, Relay: "1.2.3", Tip: tip,
		Remote: "https://example.org/shop.git",
	}}
}

// Of two epics of a playlist each has records of its own: the second begins from where the first ended, and what is to be typed names it.
func TestPlaylist(t *testing.T) {
	t.Parallel()
	store, err := epic.Read("store.yml", []byte(storePlan))
	if err != nil {
		t.Fatal(err)
	}
	fixed := success(attempts.Receipt{Summary: "Orders are kept.", Statement: attempts.Statement{
		Bugfix: &attempts.Bugfix{Symptom: "orders are lost", RootCause: "no file", Fix: "a file", RegressionRisk: "low"},
	}}, attempts.FileChange{Path: "store.go", Kind: attempts.FileAdded, Added: 10})
	first := night(run1, 1,
		inList("20260111-store", "ba5e", "ba5e"), started("T1", 1, claude()), ended("T1", 1, fixed), stopped("epic_complete", "", "1a2b"),
	)
	gated := attempts.Ended{
		Result: attempts.ResultFailure, Charged: true, Head: "4ead", Gate: &attempts.Gate{Reason: attempts.MaxAttempts, Detail: "1 of 1 attempts failed"},
		Receipt: attempts.Receipt{ErrorCategory: attempts.TestFailure, ErrorSummary: "totals differ", Salvage: "refs/relay/20260111-shop/T2/1"},
		Changes: []attempts.FileChange{{Path: "total.go", Kind: attempts.FileModified, Added: 1}},
	}
	other := claude()
	other.Session = "6e66"
	second := night(run2, 1,
		inList("20260111-shop", "1a2b", "1a2b"), started("T1", 1, other), ended("T1", 1, success(attempts.Receipt{
			Summary: "Orders are stored.", Statement: attempts.Statement{Discovered: []attempts.Discovery{{Title: "taxes"}}},
		}, attempts.FileChange{Path: "shop.go", Kind: attempts.FileAdded, Added: 5})),
		started("T2", 1, other), ended("T2", 1, gated), stopped("no_runnable_tasks", "", "3c4d"),
	)
	golden(t, "playlist.golden", ""+
		written(t, Options{EpicID: "20260111-store", Plan: func(string) *epic.Epic { return store }, Listed: true}, first)+
		written(t, Options{EpicID: "20260111-shop", Plan: func(string) *epic.Epic { return shop(t) }, Listed: true}, second))
}

// The branch of an artifact is the user's when the work is collected nowhere else.
func TestOwnBranch(t *testing.T) {
	t.Parallel()
	p := New(Options{EpicID: "20260111-shop", Plan: func(string) *epic.Epic { return shop(t) }})
	began := attempts.Event{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{Branch: "main", Tip: "ba5e", Remote: "git@example.org:shop"}}
	var last Records
	for _, e := range night(run1, 1, began, stopped("interrupted", "", "ba5e")) {
		e.At = e.At.Add(time.Minute)
		last = p.Apply(&e)
	}
	git := last.Artifacts[0].Git
	if git == nil || git.Branch != "main" || git.Commit != "ba5e" || git.Remote != "git@example.org:shop" {
		t.Errorf("got %+v", git)
	}
}

package records

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
)

// A final report says what all runs of the epic have made, each file once but for those that are gone again, and what they have
// decided and mended.
func TestFinalIsOfAllRuns(t *testing.T) {
	t.Parallel()
	plan := shop(t)
	p := New(Options{EpicID: plan.ID, Plan: func(string) *epic.Epic { return plan }})
	of := func(task string) attempts.Event {
		said := attempts.Statement{Decisions: map[string]string{"way": "of " + task}, Bugfix: &attempts.Bugfix{Symptom: "s", Fix: "f"}}
		changes := []attempts.FileChange{{Path: task + ".go", Kind: attempts.FileAdded}, {Path: "go.mod", Kind: attempts.FileModified}}
		switch task {
		case "T2":
			changes = append(changes, attempts.FileChange{Path: "draft.md", Kind: attempts.FileAdded})
		case "T1": // after T2
			changes = append(changes, attempts.FileChange{Path: "draft.md", Kind: attempts.FileDeleted})
		}
		return ended(task, 1, success(attempts.Receipt{Summary: "did " + task, Statement: said}, changes...))
	}
	events := night(run1, 1, began("ba5e"), started("T2", 1, claude()), of("T2"), started("T1", 1, claude()), of("T1"), stopped("interrupted", "", "4ead"))
	events = append(events, night(run2, uint64(len(events)+1), began("4ead"), started("T3", 1, claude()), of("T3"), started("T4", 1, claude()), of("T4"),
		stopped("epic_complete", "", "4eae"))...)
	var last Records
	for i := range events {
		last = p.Apply(&events[i])
	}
	if len(last.Artifacts) != 1 {
		t.Fatalf("got %+v", last)
	}
	a := last.Artifacts[0]
	var files, decided []string
	for _, f := range a.ArtifactsProduced {
		files = append(files, f.Path+" "+f.Note)
	}
	for _, d := range a.FinalDecisions {
		decided = append(decided, d.Decision)
	}
	if want := []string{"T1.go T1", "go.mod T1", "T2.go T2", "T3.go T3", "T4.go T4"}; !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	if want := []string{"T1 way", "T2 way", "T3 way", "T4 way"}; !slices.Equal(decided, want) {
		t.Errorf("decisions %q, want %q", decided, want)
	}
	if got := fmt.Sprint(len(a.FinalSolutions), len(a.Done)); got != "1 2" {
		t.Errorf("solutions and tasks of the run: %s", got)
	}
}

// A handoff does not send anybody to relay work while a gate keeps all that is left from running.
func TestNotesOfAnEpicThatCannotGoOn(t *testing.T) {
	t.Parallel()
	plan, err := epic.Read("epic.yml", []byte("version: 2\nid: 20260111-shop\ntitle: S\ntasks:\n  T1: {title: A}\n  T2: {title: B, depends_on: [T1]}\n  T3: {title: C}\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{EpicID: plan.ID, Plan: func(string) *epic.Epic { return plan }})
	const goesOn = "relay work continues with what is left."
	events := night(run1, 1, began("ba5e"), attempts.Event{Type: attempts.TypeGated, Task: "T1", Gate: &attempts.Gate{Reason: attempts.UserBlocked}},
		stopped("interrupted", "", ""), began("ba5e"), started("T3", 1, claude()), ended("T3", 1, success(attempts.Receipt{})), stopped("gated", "", ""))
	var notes []string
	for i := range events {
		for _, e := range p.Apply(&events[i]).Entries {
			if e.SessionSummary != nil {
				notes = append(notes, e.SessionSummary.HandoffNotes)
			}
		}
	}
	if len(notes) != 2 || !strings.Contains(notes[0], goesOn) || strings.Contains(notes[1], goesOn) {
		t.Errorf("got %q", notes)
	}
}

// The run after a killed one ends its attempt: the entry has the names of the run in which the attempt began.
func TestKilledAttemptKeepsItsNames(t *testing.T) {
	t.Parallel()
	plan := shop(t)
	p := New(Options{EpicID: plan.ID, Plan: func(string) *epic.Epic { return plan }})
	events := night(run1, 1, began("ba5e"), started("T2", 1, claude()))
	events = append(events, night(run2, 3, began("ba5e"), ended("T2", 1, attempts.Ended{Result: attempts.ResultInterrupted}))...)
	var last Records
	for i := range events {
		last = p.Apply(&events[i])
	}
	entry := last.Entries[0]
	got := fmt.Sprint(entry.Action.Description, " ", entry.Tags[len(entry.Tags)-1])
	if want := "Files of the attempt: runs/" + run1 + "/T2/1 run:" + run1; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Entries name the model that an agent has reported: also one that takes over from an attempt, and a reviewer.
func TestReportedModels(t *testing.T) {
	t.Parallel()
	plan := shop(t)
	p := New(Options{EpicID: plan.ID, Plan: func(string) *epic.Epic { return plan }})
	failed := attempts.Ended{Result: attempts.ResultFailure, Model: "claude-opus-9"}
	failed.Receipt.Review = &attempts.Reviewed{Opinions: []attempts.Opinion{{Reviewer: "strict", CLI: "claude", Model: "claude-haiku-9"}}}
	briefed := attempts.Event{Type: attempts.TypeBriefed, Task: "T2", Attempt: 2, Briefed: &attempts.Briefed{}}
	events := night(run1, 1, began("ba5e"), started("T2", 1, claude()), ended("T2", 1, failed), started("T2", 2, claude()), briefed)
	var got []string
	for i := range events {
		for _, e := range p.Apply(&events[i]).Entries {
			got = append(got, fmt.Sprintf("%s: %s %s", e.Type, e.Agent.Name, e.Agent.Model))
		}
	}
	want := "review: claude-code claude-haiku-9, handoff: claude-code claude-opus-9, transition: claude-code claude-opus-9"
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

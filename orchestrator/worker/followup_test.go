package worker

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/review"
	"relay/runners"
)

// An agent may have been at work until its last turn ended: what it commits then is not somebody else's.
func TestLastSeenKnowsAllTurns(t *testing.T) {
	t.Parallel()
	p := relayfiles.Of(t.TempDir(), engine.Attempt{Run: "r", Number: 1})
	day := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)
	for path, minutes := range map[string]int{
		p.Brief: 0, p.End: 1, p.Round(1).Brief: 2, p.Round(1).End: 3, p.Round(2).Brief: 4, p.Round(2).Transcript: 5,
	} {
		at := day.Add(time.Duration(minutes) * time.Minute)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err == nil {
			err = os.Chtimes(path, at, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := p.LastSeen(); !got.Equal(day.Add(5 * time.Minute)) {
		t.Errorf("it was last seen at %s, want the end of its third turn", got)
	}
}

// What reviewers wanted before each round is known by its number; where the log does not say it, nothing is judged.
func TestRoundsAreRecalled(t *testing.T) {
	t.Parallel()
	found := func(issue string) []review.Raised {
		return []review.Raised{{Finding: review.Finding{Severity: review.High, File: "a.go", Issue: issue}, By: []string{"ann"}}}
	}
	heard := &attempts.ReviewProgress{Rounds: []attempts.Round{
		{Number: 1, Head: "one", Verdict: review.NeedsChanges, Wanted: found("first")},
		{Number: 2, Head: "two", Verdict: review.NeedsChanges, Wanted: found("second")},
	}}
	for number, want := range map[int]string{1: "first", 2: "second"} {
		var f collect.Account
		if !f.Recall(heard, number) || f.Wanted[0].Issue != want ||
			f.Receipt.Verdict != review.NeedsChanges || f.Judged != heard.Rounds[number-1].Head {
			t.Errorf("round %d: got %+v, want it to be about %s", number, f, want)
		}
	}
	for name, h := range map[string]*attempts.ReviewProgress{"nothing": nil, "another round": heard} {
		var f collect.Account
		const want = "relay ended while the agent fixed what reviewers had found"
		if f.Recall(h, 3) || f.End.Is != runners.Stopped || f.End.Said != want {
			t.Errorf("%s is known of the round: got %+v, want it stopped", name, f)
		}
	}
}

package relayfiles

import (
	"testing"

	"relay/attempts"
	"relay/orchestrator/git/finish"
	"relay/reanchor/git/repotest"
)

// What an open attempt has stays, and how to look at it is said; all else goes as it would.
func TestUnsettledStays(t *testing.T) {
	t.Parallel()
	l := repotest.New(t)
	l.Write("runs/r/T1/2/worktree", "3\n")
	open := OpenOf(l.Root, "20260101-lab", &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{
		"T1": {Attempts: []attempts.Attempt{{ID: 1, Run: "r", Result: attempts.ResultFailure}, {ID: 2, Run: "r", Result: attempts.ResultInProgress}}},
		"T2": {Attempts: []attempts.Attempt{{ID: 1, Run: "r", Result: attempts.ResultFailure}}},
	}})
	const why = "an attempt that the last run left open uses it; relay work recovers it"
	for _, c := range []struct {
		finish.Leftover
		why, look string
	}{
		{finish.Leftover{Kind: finish.LeftWorktree, Name: "/x/3", Show: "look"}, why, "look"},
		{finish.Leftover{Kind: finish.LeftWorktree, Name: "/x/1"}, "", ""},
		{finish.Leftover{Kind: finish.LeftWorktree, Name: "/x-forks/fork-1/3"}, "", ""},
		{finish.Leftover{Kind: finish.LeftBranch, Name: "relay-tasks/20260101-lab/T1"}, why, "git log -1 relay-tasks/20260101-lab/T1"},
		{finish.Leftover{Kind: finish.LeftBranch, Name: "relay-tasks/20260101-lab/T2"}, "", ""},
		{finish.Leftover{Kind: finish.LeftCopy, Name: "/y", Show: "look"}, why, "look"},
		{finish.Leftover{Kind: finish.LeftCopy, Name: "/y", Why: "it has more", Show: "look"}, "it has more", "look"},
	} {
		found := []finish.Leftover{c.Leftover}
		if open.Keep(found, "/x"); found[0].Why != c.why || found[0].Show != c.look {
			t.Errorf("%s %s: %q, %q", c.Kind, c.Name, found[0].Why, found[0].Show)
		}
		if (Open{}).Keep(found, "/x"); found[0].Why != c.why {
			t.Errorf("%s stays with nothing open", c.Name)
		}
	}
}

package verdict

import (
	"testing"

	"relay/attempts"
	"relay/runners"
)

// Every kind of look has a case, and the reviewers' approval clears those that it can.
func TestLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change   func(e *Evidence)
		want     attempts.Look
		approved string // "": nothing is left to look at
	}{
		{
			func(e *Evidence) { e.Work.DeletedTests = []string{"a_test.go"} },
			attempts.Look{Cause: "tests deleted", Text: "it deletes a_test.go, which the task does not name under files"},
			"",
		},
		{
			func(e *Evidence) {
				e.Old = &Old{Check: "make test", How: "exit status 2", Changed: []string{"a_test.go"}}
				e.End.AskedWhy, e.End.Why = true, "It tested the old name."
			},
			attempts.Look{Cause: "passes by changed tests", Text: "make test passes only with what the agent changed of a_test.go, which the task does not name under files; with that unchanged: exit status 2; its agent: It tested the old name"},
			"",
		},
		{
			func(e *Evidence) { e.Work.Weaker = []string{"a_test.go asserts less than before"} },
			attempts.Look{Cause: "tests prove less", Text: "a_test.go asserts less than before"},
			"",
		},
		{
			func(e *Evidence) { e.Checks.Fewer = []string{"make test ran 3 tests, and 9 before the work"} },
			attempts.Look{Cause: "tests prove less", Text: "make test ran 3 tests, and 9 before the work"},
			"",
		},
		{
			func(e *Evidence) {
				e.Checks.Runs = []Run{{Name: "go test ./...", Is: Passed, Before: Passed, NoTest: true}, {Name: "all", OfEpic: true, Is: Passed}}
			},
			attempts.Look{Cause: "proved nothing", Text: "go test ./... passes and ran no test: it proves nothing of this work"},
			"",
		},
		{
			func(e *Evidence) { e.Checks.Flaky = []string{"make test: exit status 1; repeated alone it passed"} },
			attempts.Look{Cause: "flaky again", Text: "make test: exit status 1; repeated alone it passed"},
			"make test: exit status 1; repeated alone it passed",
		},
		{
			func(e *Evidence) { e.Work.Secrets = []string{"a.pem (private-key)"} },
			attempts.Look{Cause: "secret", Text: "it adds what looks like a secret: a.pem (private-key)"},
			"it adds what looks like a secret: a.pem (private-key)",
		},
		{
			func(e *Evidence) { e.Work.Unasked = []string{"node_modules", "dump (60 MiB)"} },
			attempts.Look{Cause: "not asked for", Text: "it commits node_modules, dump (60 MiB), which the task does not name"},
			"",
		},
		{
			func(e *Evidence) { e.Work.Reviewed = []string{"a.go"} },
			attempts.Look{Cause: "a review changed files", Text: "it is a review, and changes a.go, which it does not name"},
			"",
		},
		{
			func(e *Evidence) { e.Work.Merged = []string{"feature"} },
			attempts.Look{Cause: "foreign branch", Text: "it merges feature, which lands with it"},
			"it merges feature, which lands with it",
		},
		{
			func(e *Evidence) {
				e.Panel = &Panel{Seconded: true, Missing: []Absent{{Fault: ReviewerEnd(runners.Auth), Why: "ann is not logged in"}}}
			},
			attempts.Look{Cause: "reviewer out", Text: "it has not been reviewed by all: ann is not logged in"},
			"it has not been reviewed by all: ann is not logged in",
		},
		{
			func(e *Evidence) { e.Task = Task{MayBeNothing: true, Verify: true}; e.Work.Empty = true },
			attempts.Look{Cause: "proved nothing", Text: "neither the task nor the epic has a check that verifies it"},
			"",
		},
		{
			func(e *Evidence) { e.Old.Blind = []string{"a.go"} },
			attempts.Look{Cause: "proved nothing", Text: "its checks pass too with a.go emptied: they prove nothing of this work"},
			"",
		},
		{
			func(e *Evidence) {
				e.Work.Documents, e.Checks.Runs = true, []Run{{Name: "make", Is: Passed, Before: Passed}}
			},
			attempts.Look{Cause: "proved nothing", Text: "it changes only documents, which the task does not ask for: the checks prove nothing of it"},
			"",
		},
		{
			func(e *Evidence) {
				e.Checks.Runs = []Run{{Name: "go test ./slug/", Is: Passed, Before: Red, NoTest: true}, {Name: "all", OfEpic: true, Is: Passed}}
			},
			attempts.Look{Cause: "proved nothing", Text: "go test ./slug/ passes and ran no test: it proves nothing of this work"},
			"",
		},
		{
			func(e *Evidence) { e.Work.Empty, e.Checks.Runs = true, []Run{{Name: "all", OfEpic: true, Is: Passed}} },
			attempts.Look{Cause: "done already", Text: "nothing was changed, and it has no check of its own: its agent says that it was done already"},
			"nothing was changed, and it has no check of its own: its agent says that it was done already",
		},
		{
			func(e *Evidence) { e.Work.Empty, e.Checks.Runs = true, []Run{{Name: "make test", Is: Passed}} },
			attempts.Look{Cause: "done already", Text: "nothing was changed, as its checks say that it was done already"},
			"nothing was changed, as its checks and reviewers say that it was done already",
		},
	} {
		e := proved()
		c.change(e)
		if got := Looks(e); len(got) != 1 || got[0] != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
		if r, need := Decide(e); !r.Lands() || need != Nothing {
			t.Errorf("%s: got %+v", c.want.Cause, r)
		}
		e.Panel.Approved = true
		got := Looks(e)
		if (len(got) > 0) != (c.approved != "") || len(got) > 0 && got[0].Text != c.approved {
			t.Errorf("%s, approved: got %+v, want %q", c.want.Cause, got, c.approved)
		}
	}
	if got := Looks(proved()); got != nil {
		t.Errorf("got %+v of work with nothing to look at", got)
	}
}

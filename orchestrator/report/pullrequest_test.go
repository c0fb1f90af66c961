package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/review"
)

var update = flag.Bool("update", false, "write the golden files")

// requested is an epic whose agents try to be heard in the pull request.
func branch(t *testing.T) (*epic.Epic, *epic.Graph, *attempts.Ledger) {
	t.Helper()
	e := &epic.Epic{
		ID: "20260101-users", Title: "Users can `sign up` @everyone", Checks: []epic.Check{{Name: "test", Run: "make test"}},
		Tasks: []epic.Task{
			{ID: "T1", Title: "Create the users table"},
			{ID: "T2", Title: "Sign in\n# Fixes #1"},
			{ID: "T3", Title: "Sign out"},
			{ID: "T4", Title: "Mail", DependsOn: []string{"T3"}},
			{ID: "T5", Title: "Later"},
			{ID: "T6", Title: "Again"},
		},
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	done := func(r attempts.Receipt) attempts.Attempt {
		return attempts.Attempt{ID: 2, Result: attempts.ResultSuccess, Outcome: attempts.Success, Receipt: r}
	}
	failed := attempts.Attempt{ID: 1, Result: attempts.ResultFailure, Receipt: attempts.Receipt{Summary: "never shown", ErrorSummary: "the disk\x1b[31m is full"}}
	return e, g, &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{
		"T1": {Completed: true, Attempts: []attempts.Attempt{failed, done(attempts.Receipt{
			Statement: attempts.Statement{Decisions: map[string]string{"ids": "UUIDs @octocat"}, Discovered: []attempts.Discovery{{Title: "`x`"}}},
			Summary:   "Made it.\n```\n# Fixes #12 @octocat\n<img src=x>\n````\n", Verdict: review.Approved,
			Checks: []attempts.CheckRun{{Name: "go test `x|y` ./...", Seconds: 12.34, Phase: "task"}, {Name: "make test", Seconds: 3, Phase: "merged", Attribution: attempts.FixedByTask}},
		})}},
		"T2": {Completed: true, Attempts: []attempts.Attempt{done(attempts.Receipt{})}},
		"T3": {Attempts: []attempts.Attempt{failed}, Gate: &attempts.Gate{Reason: attempts.UserBlocked, Detail: "waits for @ada: https://example.com"}},
		"T6": {Attempts: []attempts.Attempt{failed}},
	}}
}

func TestPullRequest(t *testing.T) {
	t.Parallel()
	got, err := PullRequest(branch(t))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "pull-request.golden.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s:\n%s", golden, got)
	}
}

// Hosts refuse a text that is too long.
func TestPullRequestHasItsLimit(t *testing.T) {
	t.Parallel()
	e, _, l := branch(t)
	long := strings.Repeat("`\x00long ", 1000)
	for i := range 2000 {
		id := "X" + strings.Repeat("x", i%9) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		e.Tasks = append(e.Tasks, epic.Task{ID: id, Title: long})
		l.Tasks[id] = &attempts.TaskRecord{
			Completed: i%2 == 0, Attempts: []attempts.Attempt{{Result: attempts.ResultSuccess, Receipt: attempts.Receipt{Summary: long}}},
		}
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := PullRequest(e, g, l)
	if err != nil || len(got) > maxRequest+1000 || !strings.Contains(got, "more") || !strings.Contains(got, "## Not in this branch") {
		t.Errorf("%d bytes", len(got))
	}
}

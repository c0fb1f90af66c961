package worker

import (
	"errors"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/engine"
)

// What relay makes of an agent's work, from the whole of one attempt.
func TestEvidence(t *testing.T) {
	t.Parallel()
	pass, red := epic.Check{Name: "check", Run: "true"}, epic.Check{Name: "check", Run: "test -e work.txt", Expect: epic.ExpectRedThenGreen}
	for name, c := range map[string]struct {
		agent   string
		task    epic.Task
		outcome attempts.Outcome
		says    string
		landed  bool
		gate    attempts.Reason
	}{
		"work":                   {"echo x > work.txt", epic.Task{Checks: []epic.Check{pass}}, attempts.Success, "", true, ""},
		"nothing":                {"true", epic.Task{}, attempts.Agent, "nothing has changed", false, ""},
		"nothing, which is fine": {"true", epic.Task{AllowNoChange: true}, attempts.Success, "", false, ""},
		"a review":               {"true", epic.Task{Kind: epic.KindReview}, attempts.Success, "", false, ""},
		"protected":              {"echo x > tests/a.txt", epic.Task{Protected: []string{"tests"}}, attempts.Tamper, "tests/a.txt, which is protected", false, ""},
		"protected, moved":       {"git mv tests/a.txt b.txt", epic.Task{Protected: []string{"tests/**"}}, attempts.Tamper, "tests/a.txt, which is protected", false, ""},
		"protected, deleted":     {"rm -r tests", epic.Task{Protected: []string{"tests/"}}, attempts.Tamper, "protected", false, ""},
		"nothing but litter":     {"echo x > tests/log", epic.Task{Protected: []string{"tests/log"}}, attempts.Agent, "the agent claims success, but nothing has changed but tests/log, which is not part of the work", false, ""},
		"an empty commit first":  {"git commit -q --allow-empty -m x; echo x > new.txt", epic.Task{}, attempts.Success, "", true, ""},
		"missed beside":          {"echo x > work.txt; git add .; git commit -q -m x; echo x > more.txt", epic.Task{Checks: []epic.Check{{Name: "check", Run: "cat more.txt"}}}, attempts.Environment, "check: exit status 1: cat: more.txt: No such file or directory; relay did not commit more.txt, as the task does not name it: an agent that needs it there commits it itself", false, ""},
		"litter beside":          {"echo x > work.txt; git add .; git commit -q -m x; echo x > junk", epic.Task{Checks: []epic.Check{{Name: "check", Run: "test -e junk"}}}, attempts.Check, "check: exit status 1; junk was left uncommitted, and is not part of what was checked", false, ""},
		"failing check":          {"echo x > work.txt", epic.Task{Checks: []epic.Check{{Name: "check", Run: "exit 7"}}}, attempts.Check, "exit status 7", false, ""},
		"slow check":             {"echo x > work.txt", epic.Task{Checks: []epic.Check{{Name: "check", Run: "sleep 60", Timeout: 50e6}}}, attempts.Check, "longer than", false, ""},
		"red, then green":        {"echo x > work.txt", epic.Task{Checks: []epic.Check{red}}, attempts.Success, "", true, ""},
		"never green":            {"echo x > other.txt", epic.Task{Checks: []epic.Check{red}}, attempts.Check, "exit status 1", false, ""},
		"never red": {
			"echo x > work.txt",
			epic.Task{Checks: []epic.Check{{Name: "check", Run: "true", Expect: epic.ExpectRedThenGreen}}},
			attempts.Environment, "passes before the work", false, attempts.Infrastructure,
		},
		"never red, and done": {"true", epic.Task{Checks: []epic.Check{{Name: "check", Run: "true", Expect: epic.ExpectRedThenGreen}}}, attempts.Success, "", false, ""},
		"never red, and not done": {
			"echo '{\"status\": \"failure\", \"summary\": \"no\", \"error_summary\": \"it is not done\"}' > $RELAY_RESULT",
			epic.Task{Checks: []epic.Check{{Name: "check", Run: "true", Expect: epic.ExpectRedThenGreen}}},
			attempts.Environment, "passes before the work, so it cannot prove it (expect: red_then_green); its agent: it is not done", false, attempts.Infrastructure,
		},
		"only the check's litter": {
			"true",
			epic.Task{Checks: []epic.Check{{Name: "check", Run: "touch litter; test -e work.txt", Expect: epic.ExpectRedThenGreen}}},
			attempts.Agent, "nothing has changed", false, "",
		},
		"a check that commits": {
			"echo x > work.txt",
			epic.Task{Checks: []epic.Check{{Name: "check", Run: "touch y; git add -A; git commit -qm sneaky; git checkout -q --detach"}}},
			attempts.Success, "", true, "",
		},
		"a check that breaks .git":    {"echo x > work.txt", epic.Task{Checks: []epic.Check{{Name: "check", Run: "rm -rf .git; exit 1"}}}, attempts.Tamper, ".git", false, attempts.TamperedWith},
		"a check that locks":          {"echo x > work.txt", epic.Task{Checks: []epic.Check{{Name: "check", Run: "touch .git/index.lock; exit 1"}}}, attempts.Check, "exit status 1", false, ""},
		"a pipe for the plan":         {"rm .agents-os/relay/epic.yml; mkfifo .agents-os/relay/epic.yml; echo x > work.txt", epic.Task{}, attempts.Tamper, "own files", false, attempts.TamperedWith},
		"relay's folder not ignored":  {"echo '!*' > .agents-os/relay/.gitignore; echo x > work.txt", epic.Task{}, attempts.Tamper, "own files", false, attempts.TamperedWith},
		"left the branch":             {"echo x > work.txt; git add -A; git commit -qm x; git checkout -qb other HEAD~1; echo y > y", epic.Task{}, attempts.Agent, "left the branch", false, ""},
		"fails, and says nothing new": {"exit 3", epic.Task{}, attempts.Agent, "exit status 3", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			l := newLab(t, c.agent).begin()
			base := l.Git("rev-parse", "HEAD")
			f := l.try(c.task, nil)
			if f.Outcome != c.outcome || !strings.Contains(f.Receipt.ErrorSummary, c.says) || f.Gate != c.gate {
				t.Errorf("got %s %q, gate %q; want %s %q, gate %q", f.Outcome, f.Receipt.ErrorSummary, f.Gate, c.outcome, c.says, c.gate)
			}
			if landed := l.Git("rev-parse", "refs/heads/main") != base; landed != c.landed {
				t.Errorf("landed is %v", landed)
			}
			if got := l.Git("status", "--porcelain"); got != "" {
				t.Errorf("status is %s", got)
			}
			if name == "left the branch" && l.Git("show", "refs/relay/20260101-lab/T1/1-branch:work.txt") != "x" {
				t.Error("what was committed on the branch is lost")
			}
			l.try(epic.Task{ID: "T2", Title: "Two", AllowNoChange: true}, nil) // another attempt can begin
		})
	}
}

// Nobody may take the run's branch for one that the checkout is on by now.
func TestPrepareRefusesAnotherBranch(t *testing.T) {
	t.Parallel()
	l := newLab(t, "").begin()
	l.Git("switch", "-q", "-c", "other")
	var refused *attempts.RefusedError
	_, err := l.c.Prepare(t.Context(), engine.Attempt{})
	if want := (attempts.RefusedError{Reason: "this checkout is not on branch main any more, where the run began", Hint: "git switch main, then relay work"}); !errors.As(err, &refused) || *refused != want {
		t.Errorf("got %v, want %+v", err, want)
	}
}

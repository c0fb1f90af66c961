package worker

import (
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/reanchor/git"
)

// No agent is paid when a check of the task cannot run at all; a check of the epic that cannot is told, once.
func TestChecksThatCannotRun(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, "no-such-linter .")
	y.Write("cache/bin/tool", "#!/bin/sh\n")
	const why = "cache/bin/tool cannot run: cache/bin/tool is ignored by git, so task checkouts lack it: relay.worktree.share: [cache]"
	f := y.does("T1", "touch "+y.Path("paid"), "cache/bin/tool").Result
	if !f.Held || f.Outcome != attempts.Environment || f.Receipt.ErrorSummary != why || git.Exists(y.Path("paid")) || len(f.Receipt.Checks) != 1 {
		t.Errorf("got %s, held %t (%s), agent paid: %t", f.Outcome, f.Held, f.Receipt.ErrorSummary, git.Exists(y.Path("paid")))
	}
	const told = "a check of the epic, no-such-linter . cannot run: the program no-such-linter is not on the PATH: install it, or add its folder to the PATH that relay is started with; until then it proves nothing"
	two := y.does("T2", "echo 'echo hello' > verify.sh", "sh verify.sh").Result // test-first: the task makes what its check runs
	if two.Outcome != attempts.Success || len(two.Notes) == 0 || two.Notes[0].Text != told {
		t.Errorf("got %s (%s), notes %+v", two.Outcome, two.Receipt.ErrorSummary, two.Notes)
	}
	three := y.does("T3", "true > x", "sh verify.sh").Result
	if three.Outcome != attempts.Check || len(three.Notes) > 0 {
		t.Errorf("got %s (%s), notes %+v", three.Outcome, three.Receipt.ErrorSummary, three.Notes)
	}
}

// In the user's own checkout too a check that cannot run is found before anybody is paid.
func TestChecksThatCannotRunInTheCheckout(t *testing.T) {
	t.Parallel()
	l := newLab(t, "echo x > x").begin()
	for name, checks := range map[string][]epic.Check{
		"T1": {{Name: "lint", Run: "no-such-linter .", Timeout: time.Minute}},
		"T2": redThenGreen("no-such-linter ."),
	} {
		f := l.try(epic.Task{ID: name, Checks: checks}, nil)
		if f.Outcome != attempts.Environment || !f.Held || !strings.Contains(f.Receipt.ErrorSummary, "cannot run: the program no-such-linter is not on the PATH") {
			t.Errorf("%s: got %s, held %t (%s)", name, f.Outcome, f.Held, f.Receipt.ErrorSummary)
		}
	}
}

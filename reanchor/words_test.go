package reanchor

import (
	"fmt"
	"strings"
	"testing"

	"relay/attempts"
	"relay/review"
)

// How an attempt ended, and what to do differently, is said in words of its own for every outcome.
func TestWordsForOutcomes(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[attempts.Outcome]string{
		attempts.Success:     "### Attempt 1: it succeeded, and a person wants it done again (by claude)\n",
		attempts.Agent:       "### Attempt 1: the agent did not get it done (by claude)\n\nDo differently: find the cause before you write code, and take another way.\n",
		attempts.Check:       "### Attempt 1: an acceptance command failed (by claude)\n\nDo differently: run the failing command yourself first, and finish only when it passes.\n",
		attempts.Timeout:     "### Attempt 1: it ran out of time (by claude)\n\nDo differently: work in smaller steps, commit early, and put a time limit on every long command.\n",
		attempts.Tamper:      "### Attempt 1: it changed what no agent may change (by claude)\n\nDo differently: leave protected paths, acceptance commands and relay's own files as they are.\n",
		attempts.Environment: "### Attempt 1: a fault of this machine; not counted as a failure (by claude)\n",
		attempts.Provider:    "### Attempt 1: interrupted by a fault of the provider; not counted as a failure (by claude)\n",
		attempts.Auth:        "### Attempt 1: the agent program was not logged in; not counted as a failure (by claude)\n",
		attempts.Start:       "### Attempt 1: the agent program ended before it had begun; not counted as a failure (by claude)\n",
		attempts.Budget:      "### Attempt 1: stopped because its budget was spent; not counted as a failure (by claude)\n",
	} {
		in := second()
		a := &in.Record.Attempts[0]
		a.Outcome, a.Charged, a.Receipt = outcome, outcome.Charged(), attempts.Receipt{}
		if got := string(Brief(in)); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant %q in it", outcome, got, want)
		}
	}
	in := second()
	r := &in.Record.Attempts[0].Receipt
	r.Verdict, r.ErrorCategory = review.Blocked, attempts.NoResult
	for range failingShown {
		r.Checks = append(r.Checks, attempts.CheckRun{Name: "more", ExitCode: 1})
	}
	for _, want := range []string{
		"### Attempt 1: the reviewer blocked it (by claude)\n",
		"\nDo differently: end by reporting your result as described under \"How to work\".\n",
		"\n2 more commands failed.\n",
	} {
		if got := string(Brief(in)); !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}

// Work that landed and was broken since is told with what fails, and not as a failure.
func TestWordsForUndoneWork(t *testing.T) {
	t.Parallel()
	in := second()
	a := &in.Record.Attempts[0]
	a.Outcome, a.Result, a.Charged, a.Receipt = attempts.Success, attempts.ResultSuccess, false, attempts.Receipt{}
	a.Undone = &attempts.Undone{Since: []string{"T9", "T7"}, Check: attempts.CheckRun{Name: "go test ./a", ExitCode: 1, Tail: "--- FAIL: TestA"}}
	got := string(Brief(in))
	for _, want := range []string{
		"### Attempt 1: it succeeded, and work that landed later broke it (by claude)\n",
		"Its work landed and is in your checkout, but since then `go test ./a` fails; landed since: T9, T7. Make it pass again, and leave what landed since working: change no more than that takes.",
		"--- FAIL: TestA",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
	if strings.Contains(got, "None of them failed") {
		t.Errorf("got\n%s", got)
	}
}

// What a brief says of a checkout without a branch or a commit, of gated tasks, and of many attempts.
func TestWordsForRareStates(t *testing.T) {
	t.Parallel()
	in := first()
	in.Facts.Branch, in.Base = "", strings.Repeat("f", 40)
	in.Progress.Gated, in.Progress.GatedTasks = 12, []TaskName{{"T9", "Sell it"}}
	one := second().Record.Attempts[0]
	one.Outcome = "of the future"
	for i := range 40 {
		one.ID = i + 1
		in.Record.Attempts = append(in.Record.Attempts, one)
	}
	in.Record.CountFrom, in.MaxBytes = 40, 1<<20
	fresh := first()
	fresh.Facts.Head, fresh.Facts.Recent, fresh.Base = "", nil, ""
	small := huge()
	small.MaxBytes = 1
	for _, test := range []struct {
		in   Input
		want string
	}{
		{in, "\n- Branch: none, HEAD is detached\n"},
		{in, fmt.Sprintf("\n- HEAD: %s\n", in.Facts.Head)},
		{in, "\n- Gated: not tried again until a person says so: T9 Sell it; and 11 more\n"},
		{in, "\nThe count of failed attempts has been set back to 0. Find out why it failed and address those errors; do not try the same thing again.\n"},
		{in, "\nThe first ones in short (output of earlier attempts):\n"},
		{in, " attempts before these\n"},
		{in, "\nAttempt 30: it failed. TestUsers fails: got 500, want 200\n"},
		{fresh, "\n- There is no commit yet\n"},
		{small, "\n[relay left out the rest of this section]\n"},
	} {
		if got := string(Brief(test.in)); !strings.Contains(got, test.want) {
			t.Errorf("got\n%s\nwant %q in it", got, test.want)
		}
	}
}

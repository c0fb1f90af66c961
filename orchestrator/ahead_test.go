package orchestrator

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

const sixWithoutOrder = `version: 2
id: 20260101-ahead
title: ahead
tasks:
  A: {title: a}
  B: {title: b}
  C: {title: c}
  D: {title: d}
  E: {title: e}
  F: {title: f, depends_on: [A]}
`

// While a reviewer is not to be asked, each job does one task more, and then waits; when it may be asked again the reviews
// come first, and no agent works twice.
func TestAgentsGoOnWhileAReviewerIsLimited(t *testing.T) {
	t.Parallel()
	limit := func() map[string][]step {
		return map[string][]step{"A": {{takes: 30 * time.Second, outcome: attempts.Quota, why: "limit", resetIn: 3 * time.Hour, limited: "codex"}}}
	}
	panel := engine.Review{Reviewers: []engine.Reviewer{{Name: "codex"}}}
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"one job": {
			Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 1, Isolation: engine.IsolationWorktree}}},
			"A claude 0s, B claude 30s, A review 3h0m30s, B review 3h1m30s, C claude 3h2m30s, D claude 3h3m30s, E claude 3h4m30s, F claude 3h5m30s",
		},
		"two jobs": {
			Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 2, Isolation: engine.IsolationWorktree}}},
			"A claude 0s, B claude 0s, C claude 30s, D claude 1m0s, E claude 1m30s, A review 3h0m30s, C review 3h1m0s, D review 3h1m30s, E review 3h2m0s, F claude 3h2m30s",
		},
		"where work that waits is in the way": {
			Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 1}}},
			"A claude 0s, A review 3h0m30s, B claude 3h1m30s, C claude 3h2m30s, D claude 3h3m30s, E claude 3h4m30s, F claude 3h5m30s",
		},
	} {
		c.o.Review = panel
		simulate(t, sixWithoutOrder, c.o, limit(), func(s *simulated, store *attempts.Store, err error) {
			if got := strings.Join(s.log, ", "); err != nil || got != c.want {
				t.Errorf("%s: got\n%s (%v), want\n%s", name, got, err, c.want)
			}
			if n := store.Counts()[attempts.Completed]; n != 6 || store.Task("A").Charges() != 0 {
				t.Errorf("%s: %d tasks are completed, and A was charged %d times", name, n, store.Task("A").Charges())
			}
		})
	}
}

// When a reviewer cannot work in this run at all, each task that depends on no unreviewed work is done, and waits for its review.
func TestWorkGoesOnWithoutAReviewer(t *testing.T) {
	t.Parallel()
	script := map[string][]step{}
	for _, id := range []string{"A", "B", "C", "D", "E", "F"} {
		script[id] = always(step{takes: time.Minute, outcome: attempts.Auth, why: "not logged in", limited: "codex"})
	}
	o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 1, Isolation: engine.IsolationWorktree, Review: engine.Review{Reviewers: []engine.Reviewer{{Name: "codex"}}}}}}
	simulate(t, sixWithoutOrder, o, script, func(s *simulated, _ *attempts.Store, err error) {
		worked := slices.DeleteFunc(slices.Clone(s.log), func(line string) bool { return strings.Contains(line, "review") })
		got := strings.Join(worked, ", ")
		if !errors.As(err, new(*decide.NoRunnerError)) || got != "A claude 0s, B claude 1m0s, C claude 2m0s, D claude 3m0s, E claude 4m0s" || !strings.Contains(err.Error(), "codex: not logged in") {
			t.Errorf("got %v after %v, want that A to E are worked on", err, s.log)
		}
	})
}

// A task on a file in which work has conflicted does not wait for a review of other work on it, which may take hours; and the review is
// held as soon as it can be.
func TestWorkGoesOnBesideAReviewOfItsFile(t *testing.T) {
	t.Parallel()
	conflict := step{takes: 30 * time.Second, outcome: attempts.Conflict, why: "conflict", contested: []string{"F"}}
	script := map[string][]step{
		"A": {conflict, {takes: 30 * time.Second, outcome: attempts.Quota, why: "limit", resetIn: 3 * time.Hour, limited: "codex"}},
		"B": {{takes: 50 * time.Second, outcome: attempts.Conflict, why: "conflict", contested: []string{"F"}}},
	}
	const two = "version: 2\nid: 20260101-ahead\ntitle: ahead\ntasks:\n  A: {title: a, files: [F]}\n  B: {title: b, files: [F]}\n"
	o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 2, Isolation: engine.IsolationWorktree, Review: engine.Review{Reviewers: []engine.Reviewer{{Name: "codex"}}}}}}
	simulate(t, two, o, script, func(s *simulated, store *attempts.Store, err error) {
		const want = "A claude 0s, B claude 0s, A claude 30s, B claude 1m0s, A review 3h1m0s, B review 3h2m0s"
		if got := strings.Join(s.log, ", "); err != nil || got != want || store.Counts()[attempts.Completed] != 2 {
			t.Errorf("got %s (%v), %v; want %s", got, err, store.Counts(), want)
		}
	})
}

// A reviewer that fails again and again is asked at longer and longer intervals; one answer, and the next wait is short.
func TestReviewersBackOff(t *testing.T) {
	t.Parallel()
	crash := step{takes: time.Minute, outcome: attempts.Environment, why: "exit status 1", limited: "codex"}
	script := map[string][]step{"A": {crash, crash}, "B": {crash}}
	simulate(t, sixWithoutOrder, Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 1, Review: engine.Review{Reviewers: []engine.Reviewer{{Name: "codex"}}}}}}, script, func(s *simulated, _ *attempts.Store, err error) {
		want := []string{"A claude 0s", "A review 1m30s", "B claude 3m0s", "C claude 5m0s", "A review 6m0s", "B review 7m0s"}
		if err != nil || !slices.Equal(s.log[:min(len(s.log), len(want))], want) {
			t.Errorf("got %v (%v), want first %v", s.log, err, want)
		}
	})
}

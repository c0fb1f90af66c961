package orchestrator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// always is a step for as many attempts as a night may have.
func always(s step) []step { return slices.Repeat([]step{s}, 300) }

const withOwnRunners = `version: 2
id: 20260101-own
title: own
tasks:
  A: {title: a, runner: codex}
  B: {title: b, runner: codex}
  C: {title: c}
  D: {title: d, depends_on: [C]}
`

// A task whose own runner is out neither ends nor stalls the night for others, and says why it was left.
func TestOwnRunnerOutLeavesItsTasksOnly(t *testing.T) {
	t.Parallel()
	script := map[string][]step{
		"A": always(step{takes: time.Second, outcome: attempts.Auth, why: "not logged in"}),
		"B": always(step{takes: time.Second, outcome: attempts.Auth, why: "not logged in"}),
		"C": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 6 * time.Hour}},
	}
	var notes []string
	o := Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Jobs: 2,
			},
		},
		Policy: decide.Policy{
			Notify: func(u decide.Update) {
				if u.Kind == decide.Note {
					notes = append(notes, u.Text)
				}
			},
		},
	}
	simulate(t, withOwnRunners, o, script, func(s *simulated, store *attempts.Store, err error) {
		if c := store.Counts(); err != nil || c[attempts.Completed] != 2 || c[attempts.Pending] != 2 {
			t.Errorf("got %v, counts %v, after %v", err, c, s.log)
		}
		if len(notes) != 2 || notes[0] != "A is left for another run, its runner cannot work: codex: not logged in" {
			t.Errorf("got notes %q", notes)
		}
	})
}

// When only tasks of a runner that is out are left, nobody waits for another runner's limit to end.
func TestNobodyWaitsForARunnerThatIsNotNeeded(t *testing.T) {
	t.Parallel()
	script := map[string][]step{
		"C": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 20 * time.Minute}, {takes: time.Minute, outcome: attempts.Tamper, why: "x"}},
		"A": always(step{takes: 5 * time.Second, outcome: attempts.Auth, why: "not logged in"}),
		"B": always(step{takes: 5 * time.Second, outcome: attempts.Auth, why: "not logged in"}),
	}
	simulate(t, withOwnRunners, Options{Policy: decide.Policy{Runners: []string{"claude"}}}, script, func(s *simulated, _ *attempts.Store, err error) {
		if took := time.Since(s.start); err != nil || took > 40*time.Minute {
			t.Errorf("the night took %v (%v): %v", took, err, s.log)
		}
	})
}

// However many workers wait, and however often they look, a wait is told once.
func TestWaitIsToldOnce(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}}}
	var waits []decide.Update
	o := Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Jobs: 4,
			},
		},
		Policy: decide.Policy{
			Notify: func(u decide.Update) {
				if u.Kind == decide.UpdateWaiting {
					waits = append(waits, u)
				}
			},
		},
	}
	simulate(t, threeInARow, o, script, func(_ *simulated, _ *attempts.Store, err error) {
		if err != nil || len(waits) != 1 || waits[0].Runner != "claude" || waits[0].Text != "limit" {
			t.Errorf("got %+v (%v), want one wait for claude", waits, err)
		}
	})
}

// While the reviewer cannot be asked, no agent begins work that could not be finished.
func TestReviewersLimitIsWaitedOut(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Quota, why: "reviewer codex: limit", resetIn: 3 * time.Hour, limited: "codex"}}}
	simulate(t, threeInARow, Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Review: engine.Review{Reviewers: []engine.Reviewer{{Name: "codex"}}}}}}, script, func(s *simulated, store *attempts.Store, err error) {
		got, want := strings.Join(s.log, ", "), "A claude 0s, A review 3h1m0s, B claude 3h2m0s, C claude 3h3m0s, X claude 3h4m0s"
		if err != nil || got != want || store.Task("A").Charges() != 0 {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	})
	script = map[string][]step{"A": always(step{outcome: attempts.Auth, why: "reviewer codex: not logged in", limited: "codex"})}
	simulate(t, threeInARow, Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Review: engine.Review{Reviewers: []engine.Reviewer{{Name: "codex"}}}}}}, script, func(s *simulated, _ *attempts.Store, err error) {
		if !errors.As(err, new(*decide.NoRunnerError)) || len(s.log) != 8 || time.Since(s.start) != 10*time.Minute+15*time.Second {
			t.Errorf("got %v after %v, want that no runner is left after ten minutes", err, s.log)
		}
	})
}

// A run that is stopped while it waits ends at once, and leaves nothing running.
func TestStoppedWhileWaiting(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}}}
	simulateUntil(t, decide.UpdateWaiting, scene{
		epic: threeInARow, o: Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 3}}}, script: script,
	}, func(s *simulated, store *attempts.Store, err error) {
		if took := time.Since(s.start); err != nil || took != time.Minute || store.Counts()[attempts.InProgress] != 0 {
			t.Errorf("got %v after %v", err, took)
		}
	})
}

// A task that fails alone is gated after three faults, whoever fails it: its runner or a reviewer of its work.
func TestPoisonIsGated(t *testing.T) {
	t.Parallel()
	panel := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Review: engine.Review{Reviewers: []engine.Reviewer{{Name: "codex"}}}}}}
	for name, c := range map[string]struct {
		o    Options
		bad  step
		log  string
		gate string
	}{
		"runner": {
			Options{},
			step{outcome: attempts.Provider, why: "overloaded"},
			"A claude 0s, X claude 30s, A claude 1m30s, A claude 31m30s", "claude failed 3 times on this task alone, and served others; the last: overloaded",
		},
		"reviewer": {
			panel,
			step{outcome: attempts.Provider, why: "overloaded", limited: "codex"},
			"A claude 0s, A review 30s, X claude 1m0s, A review 2m0s, A review 32m0s", "reviewer codex failed 3 times on this task alone, and served others; the last: overloaded",
		},
	} {
		simulate(t, threeInARow, c.o, map[string][]step{"A": always(c.bad)}, func(s *simulated, store *attempts.Store, err error) {
			gate := store.Task("A").Gate
			if got := strings.Join(s.log, ", "); err != nil || got != c.log || gate == nil || gate.Reason != attempts.Infrastructure || gate.Detail != c.gate {
				t.Errorf("%s: got %s, %+v (%v); want %s, %s", name, got, gate, err, c.log, c.gate)
			}
		})
	}
}

// A wall is asked by one job at a time, counts once against the run, and is waited for; then all jobs go on.
func TestWallIsProbedByOneJob(t *testing.T) {
	t.Parallel()
	const jobs, tasks = 8, 38
	script := map[string][]step{}
	for i := range tasks {
		id := fmt.Sprintf("T%d", i+1)
		script[id] = []step{{wall: 90 * time.Minute, outcome: attempts.Provider, why: "529"}}
	}
	o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: jobs}}}
	o.Limits.MaxUnchargedRun = 2
	simulate(t, sideBySide(tasks), o, script, func(s *simulated, store *attempts.Store, err error) {
		refused := 0
		for id := range script {
			refused += verdict.Uncharged(store.Task(id))
		}
		if err != nil || s.halted.Reason != "" || store.Counts()[attempts.Completed] != tasks || refused > jobs+11 {
			t.Errorf("got %v, %+v (%v), and %d refused calls", store.Counts(), s.halted, err, refused)
		}
		if took := time.Since(s.start); took > 2*time.Hour {
			t.Errorf("it took %s: %v", took, s.log)
		}
	})
}

package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// Which test fails when a limit is taken out:
//
//	wall, silence, first answer      runners: TestLimits
//	an agent that lives on           runners: TestLimits
//	charged attempts, same error     verdict: TestGateAfter; TestGatedTaskStopsItsDependantsOnly
//	uncharged retries of a task      TestUnchargedRetriesEnd, TestFaultsThatWaitingDoesNotMendEndSoon
//	uncharged retries of a run       TestUnchargedRetriesOfARun
//	questions to a reviewer          review: TestAsk
//	failures across tasks            TestBreaker, TestNightsWithFailures
//	deadline                         TestDeadline, TestNobodyWaitsBeyondTheDeadline
//	room on disk, memory             TestFloors
//	back-off, usage limits           TestPool, TestWaitsAreSpread, TestEarlierCoolingIsRecalled

// sideBySide is an epic of tasks that wait for nothing.
func sideBySide(n int) string {
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260101-wide\ntitle: wide\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  T%d: {title: t}\n", i+1)
	}
	return b.String()
}

func failing(why string) step {
	return step{takes: time.Minute, outcome: attempts.Agent, why: why}
}

var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when fake time begins

// At the deadline nothing is started, what runs is stopped uncharged, and the log says why.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		jumps []jump
		want  time.Duration
		late  time.Duration
	}{
		"as it goes":       {want: 90 * time.Minute},
		"asleep past it":   {jumps: []jump{{time.Hour, 8 * time.Hour}}, want: time.Hour, late: decide.LongestWait},
		"a clock set back": {jumps: []jump{{time.Hour, -10 * years}}, want: 90 * time.Minute, late: decide.LongestWait},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := map[string][]step{"A": {{takes: 100 * time.Hour, outcome: attempts.Success}}, "X": {{takes: 80 * time.Minute, outcome: attempts.Success}}}
			o := Options{Policy: decide.Policy{Until: midnight.Add(90 * time.Minute)}}
			o.Jobs = 2
			simulateUntil(t, "", scene{epic: threeInARow, o: o, script: script, clock: &dayClock{jumps: c.jumps}}, func(s *simulated, store *attempts.Store, err error) {
				if took := time.Since(s.start); err != nil || took < c.want || took > c.want+c.late {
					t.Errorf("the night took %s (%v), want %s", took, err, c.want)
				}
				rec := store.Task("A")
				if s.halted.Reason != decide.Deadline || len(rec.Attempts) != 1 || rec.Charges() != 0 || rec.Attempts[0].Outcome != attempts.Stopped {
					t.Errorf("got %+v, A %+v", s.halted, rec.Attempts)
				}
				if want := "limit: the deadline has come: running attempts are asked to end, and their work is kept"; !slices.Contains(recorded(t, s.dir), want) {
					t.Errorf("the log has %q", recorded(t, s.dir))
				}
			})
		})
	}
}

// A run whose tasks are done, or that is stopped, before the deadline does not wait for it.
func TestDeadlineHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	o := Options{Policy: decide.Policy{Until: midnight.Add(time.Hour)}}
	simulate(t, threeInARow, o, nil, func(s *simulated, _ *attempts.Store, err error) {
		if took := time.Since(s.start); err != nil || took != 4*time.Minute || s.halted.Reason != "" {
			t.Errorf("the night took %s, %+v (%v)", took, s.halted, err)
		}
	})
}

// Nobody waits for a runner that opens after the deadline; one that opens before it is waited for.
func TestNobodyWaitsBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	limit := step{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}
	for until, want := range map[time.Duration]time.Duration{3 * time.Hour: time.Minute, 8 * time.Hour: 5*time.Hour + 5*time.Minute} {
		script := map[string][]step{"A": {limit}}
		o := Options{Policy: decide.Policy{Until: midnight.Add(until)}}
		simulate(t, threeInARow, o, script, func(s *simulated, _ *attempts.Store, err error) {
			if took := time.Since(s.start); err != nil || took != want {
				t.Errorf("until %s the night took %s (%v), want %s", until, took, err, want)
			}
			why := "claude is not asked before " + plaintext.LocalTime(midnight.Add(5*time.Hour+time.Minute)) + ": limit; the run's deadline is " + plaintext.LocalTime(midnight.Add(until))
			if early := until == 3*time.Hour; early != (s.halted == decide.StopReason{Reason: decide.Deadline, Why: why}) {
				t.Errorf("until %s: got %+v", until, s.halted)
			}
		})
	}
}

// However the faults are spread over tasks, a run has only so many uncharged retries.
func TestUnchargedRetriesOfARun(t *testing.T) {
	t.Parallel()
	script := map[string][]step{}
	for i := range 60 {
		lost := step{outcome: attempts.Environment, why: "the process that watched the agent died"}
		script[fmt.Sprintf("T%d", i+1)] = []step{lost, lost}
	}
	simulate(t, sideBySide(60), Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Jobs:   4,
				Limits: engine.Limits{RunLimits: attempts.RunLimits{MaxUnchargedRun: 100}},
			},
		},
	}, script, func(s *simulated, store *attempts.Store, err error) {
		uncharged := 0
		for id := range script {
			uncharged += verdict.Uncharged(store.Task(id))
		}
		want := decide.StopReason{Reason: decide.UnchargedRetries, Why: "100 attempts of this run ended through no fault of an agent; the last: the process that watched the agent died"}
		if err != nil || s.halted != want || uncharged < 100 || uncharged > 103 {
			t.Errorf("after %d uncharged attempts (%v) got %+v, want %+v", uncharged, err, s.halted, want)
		}
	})
}

// A machine without room has nothing started on it; the run waits for a while, and then ends.
func TestFloors(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	lim := engine.Limits{
		RunLimits: attempts.RunLimits{DiskFloor: 500 * mib, MemoryFloor: 200 * mib, FloorWait: 10 * time.Minute},
	}
	plenty := decide.Free{Disk: 9000 * mib, Memory: 4000 * mib}
	for name, c := range map[string]struct {
		short decide.Free
		until time.Duration // from 90 s on
		lim   engine.Limits
		ends  time.Duration // the run's deadline
		took  time.Duration
		want  decide.StopReason
	}{
		"room":                 {short: plenty, until: time.Hour, lim: lim, took: 4 * time.Minute},
		"not known":            {short: decide.Free{Disk: -1, Memory: -1}, until: time.Hour, lim: lim, took: 4 * time.Minute},
		"no floors":            {short: decide.Free{Disk: 1, Memory: 1}, until: time.Hour, took: 4 * time.Minute},
		"no disk for a while":  {short: decide.Free{Disk: 100 * mib, Memory: -1}, until: 5 * time.Minute, lim: lim, took: 8*time.Minute + 30*time.Second},
		"no disk":              {short: decide.Free{Disk: 100 * mib, Memory: -1}, until: 24 * time.Hour, lim: lim, took: 12 * time.Minute, want: decide.StopReason{Reason: decide.DiskFloor, Why: "100 MiB are free, and nothing is started below 500"}},
		"no memory":            {short: decide.Free{Disk: -1, Memory: 50 * mib}, until: 24 * time.Hour, lim: lim, took: 12 * time.Minute, want: decide.StopReason{Reason: decide.MemoryFloor, Why: "50 MiB are free, and nothing is started below 200"}},
		"until the deadline":   {short: decide.Free{Disk: 100 * mib, Memory: -1}, until: time.Hour, lim: lim, ends: 9 * time.Hour, took: 63*time.Minute + 30*time.Second},
		"neither, in two goes": {short: decide.Free{Disk: 0, Memory: 0}, until: 9 * time.Minute, lim: lim, took: 12*time.Minute + 30*time.Second},
	} {
		waits := 0
		var start time.Time
		o := Options{
			LocalOptions: engine.LocalOptions{
				Options: engine.Options{
					Limits: c.lim,
				},
			},
			Policy: decide.Policy{
				Notify: func(u decide.Update) {
					if u.Kind == decide.Cramped {
						waits++
					}
					if u.Kind == decide.Started && start.IsZero() {
						start = time.Now()
					}
				},
			},
		}
		if c.ends > 0 {
			o.Until = midnight.Add(c.ends)
		}
		o.Free = func() decide.Free {
			if at := time.Since(midnight); at < 90*time.Second || at >= 90*time.Second+c.until {
				return plenty
			}
			return c.short
		}
		simulate(t, threeInARow, o, nil, func(s *simulated, _ *attempts.Store, err error) {
			took := time.Since(s.start)
			if short := c.took != 4*time.Minute; err != nil || s.halted != c.want ||
				took < c.took || took > c.took+time.Minute || short != (waits == 1) {
				t.Errorf("%s: took %s with %d waits (%v), %+v; want %s, %+v", name, took, waits, err, s.halted, c.took, c.want)
			}
		})
	}
}

// An agent that fails while the disk is full, or below its floor, does not pay for it.
func TestFailureOnAFullDisk(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, c := range map[string]struct {
		free, floor int64
		outcome     attempts.Outcome
		why         string
	}{
		"room":             {free: 9000 * mib, floor: 500 * mib, why: "exit status 1"},
		"below the floor":  {free: 100 * mib, floor: 500 * mib, why: "the disk ran full (100 MiB are free): exit status 1"},
		"its check failed": {free: 0, outcome: attempts.Check, why: "the disk ran full (0 MiB are free): exit status 1"},
		"with room for it": {free: 9000 * mib, outcome: attempts.Check, why: "exit status 1"},
		"full, no floor":   {free: 0, why: "the disk ran full (0 MiB are free): exit status 1"},
		"little, no floor": {free: mib, why: "exit status 1"},
		"not known":        {free: -1, floor: 500 * mib, why: "exit status 1"},
	} {
		o := Options{}
		o.Limits = engine.Limits{RunLimits: attempts.RunLimits{DiskFloor: c.floor, FloorWait: time.Minute}}
		o.Free = func() decide.Free {
			if at := time.Since(midnight); at == 0 || at >= 5*time.Minute {
				return decide.Free{Disk: 9000 * mib, Memory: -1}
			}
			return decide.Free{Disk: c.free, Memory: -1}
		}
		failing := map[string][]step{"T1": {{takes: time.Minute, outcome: cmp.Or(c.outcome, attempts.Agent), why: "exit status 1"}}}
		simulate(t, sideBySide(1), o, failing, func(s *simulated, store *attempts.Store, err error) {
			first := store.Task("T1").Attempts[0]
			if charged := c.why == "exit status 1"; err != nil || first.Charged != charged || first.Receipt.ErrorSummary != c.why {
				t.Errorf("%s (%v): charged %t, %q; want charged %t, %q", name, err, first.Charged, first.Receipt.ErrorSummary, charged, c.why)
			}
		})
	}
}

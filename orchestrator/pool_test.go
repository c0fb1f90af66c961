package orchestrator

import (
	"errors"
	"strings"
	"testing"
	"time"

	"relay/attempts"
)

func TestPool(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	at := func(d time.Duration) moment { return moment{day: in(d), run: 1000*time.Hour + d} }
	for name, c := range map[string]struct {
		needs    []string
		own      string
		order    []string
		happened func(*pool)
		pick     string    // "" : nobody
		opens    time.Time // zero: at once, or never
		hopeless bool
	}{
		"first choice":           {order: []string{"a", "b"}, happened: func(*pool) {}, pick: "a"},
		"own runner":             {order: []string{"a"}, own: "z", happened: func(*pool) {}, pick: "z"},
		"first is cooling":       {order: []string{"a", "b"}, happened: func(p *pool) { p.cool("a", "", at(0), in(time.Hour)) }, pick: "b"},
		"first is out":           {order: []string{"a", "b"}, happened: func(p *pool) { p.drop("a", "") }, pick: "b"},
		"all are cooling":        {order: []string{"a", "b"}, happened: func(p *pool) { p.cool("a", "", at(0), in(time.Hour)); p.cool("b", "", at(0), in(time.Minute)) }, opens: in(time.Minute)},
		"one out, one cooling":   {order: []string{"a", "b"}, happened: func(p *pool) { p.drop("b", ""); p.cool("a", "", at(0), in(time.Hour)) }, opens: in(time.Hour)},
		"all are out":            {order: []string{"a", "b"}, happened: func(p *pool) { p.drop("a", ""); p.drop("b", "") }, hopeless: true},
		"nobody":                 {happened: func(*pool) {}, hopeless: true},
		"own is out":             {order: []string{"a"}, own: "z", happened: func(p *pool) { p.drop("z", "") }, hopeless: true},
		"another is out":         {order: []string{"a"}, own: "z", happened: func(p *pool) { p.drop("a", "") }, pick: "z"},
		"no reset known":         {order: []string{"a"}, happened: func(p *pool) { p.cool("a", "", at(0), time.Time{}) }, opens: in(30 * time.Second)},
		"reset is past":          {order: []string{"a"}, happened: func(p *pool) { p.cool("a", "", at(0), in(-time.Hour)) }, opens: in(30 * time.Second)},
		"reset is beyond belief": {order: []string{"a"}, happened: func(p *pool) { p.cool("a", "", at(0), in(1000*24*time.Hour)) }, opens: in(30 * time.Second)},
		"two hit one fault":      {order: []string{"a"}, happened: func(p *pool) { p.cool("a", "", at(0), time.Time{}); p.cool("a", "", at(time.Second), time.Time{}) }, opens: in(30 * time.Second)},
		"second fault in a row":  {order: []string{"a"}, happened: func(p *pool) { p.cool("a", "", at(-time.Minute), time.Time{}); p.cool("a", "", at(0), time.Time{}) }, opens: in(time.Minute)},
		"fault, work, fault": {order: []string{"a"}, happened: func(p *pool) {
			p.cool("a", "", at(-time.Minute), time.Time{})
			p.worked("a")
			p.cool("a", "", at(0), time.Time{})
		}, opens: in(30 * time.Second)},
		"fault, then a known time": {order: []string{"a"}, happened: func(p *pool) { p.cool("a", "", at(0), time.Time{}); p.cool("a", "", at(0), in(time.Hour)) }, opens: in(time.Hour)},
		"faults all night": {order: []string{"a"}, happened: func(p *pool) {
			for i := range 100 {
				p.cool("a", "", at(time.Duration(i-99)*time.Hour), time.Time{})
			}
		}, opens: in(15 * time.Minute)},
		"reviewer is cooling": {order: []string{"a"}, needs: []string{"r"}, happened: func(p *pool) { p.cool("r", "", at(0), in(time.Hour)) }, opens: in(time.Hour)},
		"reviewer later than both": {order: []string{"a"}, needs: []string{"r"}, happened: func(p *pool) { p.cool("a", "", at(0), in(time.Minute)); p.cool("r", "", at(0), in(time.Hour)) },
			opens: in(time.Hour)},
		"reviewer is out": {order: []string{"a"}, needs: []string{"r"}, own: "z", happened: func(p *pool) { p.drop("r", "") }, hopeless: true},
	} {
		p := newPool(c.order, c.needs, 30*time.Second, 15*time.Minute)
		c.happened(p)
		pick, _ := p.pick(c.own, at(0))
		if !p.allOpen(c.needs, at(0)) {
			pick = ""
		}
		_, hopeless := p.hopeless(c.own)
		who, opens := p.opens(c.own, c.needs, at(0))
		if pick != c.pick || hopeless != c.hopeless || !opens.day.Equal(c.opens) || (who == "") != c.hopeless {
			t.Errorf("%s: got %q, %v, %q %v; want %q, %v, %v", name, pick, hopeless, who, opens.day, c.pick, c.hopeless, c.opens)
		}
		if c.pick == "" && !c.hopeless {
			later := at(opens.rest(at(0)))
			if _, ok := p.pick(c.own, later); !ok || !p.allOpen(c.needs, later) {
				t.Errorf("%s: nobody may be asked at the time that was told", name)
			}
		}
	}
}

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
		"A": {{takes: time.Second, outcome: attempts.Auth, why: "not logged in", out: true}},
		"C": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 6 * time.Hour}},
	}
	var notes []string
	o := Options{Jobs: 2, Notify: func(u Update) {
		if u.Kind == UpdateNote {
			notes = append(notes, u.Text)
		}
	}}
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
		"A": {{takes: 15 * time.Minute, outcome: attempts.Auth, why: "not logged in", out: true}},
	}
	simulate(t, withOwnRunners, Options{Runners: []string{"claude"}}, script, func(s *simulated, _ *attempts.Store, err error) {
		if took := time.Since(s.start); err != nil || took > 40*time.Minute {
			t.Errorf("the night took %v (%v): %v", took, err, s.log)
		}
	})
}

// However many workers wait, and however often they look, a wait is told once.
func TestWaitIsToldOnce(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}}}
	var waits []Update
	o := Options{Jobs: 4, Notify: func(u Update) {
		if u.Kind == UpdateWaiting {
			waits = append(waits, u)
		}
	}}
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
	simulate(t, threeInARow, Options{Review: Review{Reviewers: []Reviewer{{Name: "codex"}}}}, script, func(s *simulated, store *attempts.Store, err error) {
		got, want := strings.Join(s.log, ", "), "A claude 0s, A review 3h1m0s, B claude 3h2m0s, C claude 3h3m0s, X claude 3h4m0s"
		if err != nil || got != want || store.Task("A").Charges() != 0 {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	})
	script = map[string][]step{"A": {{outcome: attempts.Environment, why: "reviewer codex: not logged in", out: true, limited: "codex"}}}
	simulate(t, threeInARow, Options{Review: Review{Reviewers: []Reviewer{{Name: "codex"}}}}, script, func(s *simulated, _ *attempts.Store, err error) {
		if !errors.Is(err, ErrNoRunner) || len(s.log) != 1 {
			t.Errorf("got %v after %v, want ErrNoRunner after one attempt", err, s.log)
		}
	})
}

// A run that is stopped while it waits ends at once, and leaves nothing running.
func TestStoppedWhileWaiting(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}}}
	simulateUntil(t, UpdateWaiting, scene{epic: threeInARow, o: Options{Jobs: 3}, script: script}, func(s *simulated, store *attempts.Store, err error) {
		if took := time.Since(s.start); err != nil || took != time.Minute || store.Counts()[attempts.InProgress] != 0 {
			t.Errorf("got %v after %v", err, took)
		}
	})
}

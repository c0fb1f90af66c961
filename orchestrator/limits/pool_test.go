package limits

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"relay/attempts"
)

var evening = time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)

func in(d time.Duration) time.Time { return evening.Add(d) }

func at(d time.Duration) Instant { return Instant{Day: in(d), Run: 1000*time.Hour + d} }

// night is a pool of these runners with the default settings.
func night(order ...string) *Pool {
	return NewPool(PoolOptions{
		Order: order, Backoff: 30 * time.Second, BackoffMax: 15 * time.Minute, TaskFaults: 3,
		OutAfter: 3, OutPeriod: 10 * time.Second, Patience: 8 * time.Hour,
	})
}

// fails has an attempt of a task begin at a runner and fail at once.
func (p *Pool) fails(name, task string, o attempts.Outcome, now, reset time.Duration) RunnerRuling {
	p.Ask(name, task, at(now))
	f := RunnerFault{Outcome: o, Why: "why"}
	if reset != 0 {
		f.ResetAt = in(reset)
	}
	return p.Fail(name, task, f, at(now))
}

// serves has an attempt of a task begin at a runner and end well.
func (p *Pool) serves(name, task string, now time.Duration) {
	p.Ask(name, task, at(now))
	p.Answered(name, task, at(now))
	p.Release(task)
}

// refuse has a runner refuse until it is out.
func (p *Pool) refuseAll(name string, from time.Duration) {
	for i := range 3 {
		p.fails(name, "X", attempts.Auth, from+time.Duration(i)*5*time.Second, 0)
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	const limit, wall = attempts.Quota, attempts.Provider
	for name, c := range map[string]struct {
		panel    []string
		own      string
		order    []string
		happened func(*Pool)
		pick     string        // "" : nobody
		opens    time.Duration // 0: at once, or never
		hopeless bool
	}{
		"first choice":          {order: []string{"a", "b"}, happened: func(*Pool) {}, pick: "a"},
		"own runner":            {order: []string{"a"}, own: "z", happened: func(*Pool) {}, pick: "z"},
		"first is cooling":      {order: []string{"a", "b"}, happened: func(p *Pool) { p.fails("a", "X", limit, 0, time.Hour) }, pick: "b"},
		"first is out":          {order: []string{"a", "b"}, happened: func(p *Pool) { p.refuseAll("a", -10*time.Second) }, pick: "b"},
		"all are cooling":       {order: []string{"a", "b"}, happened: func(p *Pool) { p.fails("a", "X", limit, 0, time.Hour); p.fails("b", "X", limit, 0, time.Minute) }, opens: time.Minute},
		"one lost, one cooling": {order: []string{"a", "b"}, happened: func(p *Pool) { p.refuseAll("b", -10*time.Second); p.fails("a", "X", limit, 0, time.Hour) }, opens: 30 * time.Minute},
		"all are lost":          {order: []string{"a", "b"}, happened: func(p *Pool) { p.refuseAll("a", -10*time.Second); p.refuseAll("b", -10*time.Second) }, hopeless: true},
		"nobody":                {happened: func(*Pool) {}, hopeless: true},
		"own is lost":           {order: []string{"a"}, own: "z", happened: func(p *Pool) { p.refuseAll("z", -10*time.Second) }, hopeless: true},
		"another is lost":       {order: []string{"a"}, own: "z", happened: func(p *Pool) { p.refuseAll("a", -10*time.Second) }, pick: "z"},
		"out, and had worked":   {order: []string{"a"}, happened: func(p *Pool) { p.serves("a", "Y", -time.Hour); p.refuseAll("a", -10*time.Second) }, opens: 30 * time.Minute},
		"refused once":          {order: []string{"a"}, happened: func(p *Pool) { p.fails("a", "X", attempts.Start, 0, 0) }, opens: 5 * time.Second},
		"refused twice": {order: []string{"a"}, happened: func(p *Pool) {
			p.fails("a", "X", attempts.Start, -5*time.Second, 0)
			p.fails("a", "X", attempts.Auth, 0, 0)
		}, opens: 10 * time.Second},
		"no reset known":         {order: []string{"a"}, happened: func(p *Pool) { p.fails("a", "X", wall, 0, 0) }, opens: 30 * time.Second},
		"reset is past":          {order: []string{"a"}, happened: func(p *Pool) { p.fails("a", "X", limit, 0, -time.Hour) }, opens: 30 * time.Second},
		"reset is beyond belief": {order: []string{"a"}, happened: func(p *Pool) { p.fails("a", "X", limit, 0, 1000*24*time.Hour) }, opens: 30 * time.Second},
		"two hit one fault": {order: []string{"a"}, happened: func(p *Pool) {
			p.Ask("a", "X", at(-time.Minute))
			p.Ask("a", "Y", at(-time.Minute))
			p.Fail("a", "X", RunnerFault{Outcome: wall}, at(0))
			p.Fail("a", "Y", RunnerFault{Outcome: wall}, at(0))
		}, opens: 30 * time.Second},
		"second fault in a row": {order: []string{"a"}, happened: func(p *Pool) { p.fails("a", "X", wall, -time.Minute, 0); p.fails("a", "Y", wall, 0, 0) }, opens: time.Minute},
		"fault, work, fault": {order: []string{"a"}, happened: func(p *Pool) {
			p.fails("a", "X", wall, -time.Minute, 0)
			p.serves("a", "Y", 0)
			p.fails("a", "Y", wall, 0, 0)
		}, opens: 30 * time.Second},
		"fault, then a known time": {order: []string{"a"}, happened: func(p *Pool) { p.fails("a", "X", wall, 0, 0); p.fails("a", "Y", limit, 0, time.Hour) }, opens: time.Hour},
		"faults for hours": {order: []string{"a"}, happened: func(p *Pool) {
			for i := range 10 {
				p.fails("a", fmt.Sprint(i), wall, time.Duration(i-9)*15*time.Minute, 0)
			}
		}, opens: 15 * time.Minute},
		"faults of others do not escalate": {order: []string{"a"}, happened: func(p *Pool) {
			for i := range 10 {
				p.fails("a", "X", wall, time.Duration(i-9)*15*time.Minute, 0)
			}
		}, opens: 30 * time.Second},
		"nobody answers for too long": {order: []string{"a"}, happened: func(p *Pool) {
			for i := range 33 {
				p.fails("a", fmt.Sprint(i), wall, time.Duration(i-32)*15*time.Minute, 0)
			}
		}, hopeless: true},
		"no answer behind a long limit": {order: []string{"a"}, happened: func(p *Pool) { p.fails("a", "X", limit, -9*time.Hour, -time.Minute); p.fails("a", "Y", wall, 0, 0) }, opens: time.Minute},
		"reviewer is cooling":           {order: []string{"a"}, panel: []string{"r"}, happened: func(p *Pool) { p.fails("r", "X", limit, 0, time.Hour) }, opens: time.Hour},
		"reviewer later than both": {
			order: []string{"a"}, panel: []string{"r"}, happened: func(p *Pool) { p.fails("a", "X", limit, 0, time.Minute); p.fails("r", "X", limit, 0, time.Hour) },
			opens: time.Hour,
		},
		"reviewer is lost": {order: []string{"a"}, panel: []string{"r"}, own: "z", happened: func(p *Pool) { p.refuseAll("r", -10*time.Second) }, hopeless: true},
	} {
		p := night(c.order...)
		p.Panel = c.panel
		c.happened(p)
		pick, _, _ := p.Pick("T", c.own, at(0))
		if !p.AllOpen("T", c.panel, at(0)) {
			pick = ""
		}
		_, hopeless := p.Hopeless(c.own, p.Panel, at(0))
		if who, opens := p.Opens("T", c.own, c.panel, at(0)); pick != c.pick || hopeless != c.hopeless || (who == "") != c.hopeless || c.opens > 0 && opens.Rest(at(0)) != c.opens {
			t.Errorf("%s: got %q, %v, %q %v; want %q, %v, %v", name, pick, hopeless, who, opens.Rest(at(0)), c.pick, c.hopeless, c.opens)
		}
		if c.pick == "" && !c.hopeless {
			if _, _, ok := p.Pick("T", c.own, at(c.opens)); !ok || !p.AllOpen("T", c.panel, at(c.opens)) {
				t.Errorf("%s: nobody may be asked at the time that was told", name)
			}
		}
	}
}

// A provider that names a short time again and again is not asked as often as it says; one that answers in between is.
func TestShortLimitsInARow(t *testing.T) {
	t.Parallel()
	const named = 4 * time.Second
	asks := func(p *Pool, now, reset time.Duration) time.Duration {
		p.fails("a", "X", attempts.Quota, now, now+reset)
		_, opens := p.Opens("X", "", nil, at(now))
		return opens.Rest(at(now))
	}
	answers := map[string]func(p *Pool, now time.Duration){
		"nobody": func(*Pool, time.Duration) {},
		"itself": func(p *Pool, now time.Duration) { p.Ask("a", "X", at(now)); p.NoteActivity("a", "X", at(now)) },
		"other":  func(p *Pool, now time.Duration) { p.serves("a", "Y", now) },
	}
	for name, want := range map[string][]time.Duration{
		"nobody": {named, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute},
		"itself": {named, named, named, named},
		"other":  {named, named, named, named},
	} {
		p, now := night("a"), time.Duration(0)
		for i, wait := range want {
			if got := asks(p, now, named); got != wait {
				t.Errorf("%s is answered, limit %d: waits %v, want %v", name, i+1, got, wait)
			}
			now += wait
			answers[name](p, now)
		}
	}
	p := night("a")
	p.fails("a", "X", attempts.Provider, 0, 0)
	got := []time.Duration{asks(p, time.Minute, named), asks(p, 2*time.Minute, time.Hour), asks(p, 2*time.Hour, named)}
	if !slices.Equal(got, []time.Duration{named, time.Hour, 4 * time.Minute}) {
		t.Errorf("after a fault, a short limit, a long one, and a short one: waits %v", got)
	}
}

// step is one thing that happens to a pool of the runner a, and what follows.
type step struct {
	at    time.Duration
	does  string // asks, begins, fails, fails last, refuses, limited, says, ends
	task  string
	wants string // what follows, in words
}

// Who is blamed follows from what becomes of others at the same runner.
func TestBlame(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, steps := range map[string][]step{
		"one task, and nobody to compare with": {
			{0, "asks", "P", ""},
			{0, "fails", "P", "cools 30s"},
			{30 * s, "asks", "P", ""},
			{30 * s, "fails", "P", "cools 1m0s, repeat"},
			{90 * s, "asks", "P", ""},
			{90 * s, "fails", "P", "cools 2m0s, repeat"},
			{90 * s, "", "P", "waits 2m0s, rank 3"},
			{90 * s, "", "A", "waits 30s"},
		},
		"another is served": {
			{0, "asks", "P", ""},
			{0, "fails", "P", "cools 30s"},
			{30 * s, "", "P", "waits 0s, rank 1"},
			{30 * s, "", "A", "waits 0s"},
			{30 * s, "asks", "A", ""},
			{31 * s, "says", "A", "changed"},
			{31 * s, "", "P", "waits 0s, behind"},
			{31 * s, "", "B", "waits 0s"},
			{40 * s, "asks", "P", ""},
			{40 * s, "fails", "P", "own 2"},
			{40 * s, "", "P", "waits 1m0s, behind"},
			{40 * s, "", "B", "waits 0s"},
			{100 * s, "asks", "P", ""},
			{100 * s, "fails", "P", "own 3, barred"},
		},
		"served before its back-off was over": {
			{0, "asks", "A", ""},
			{0, "asks", "P", ""},
			{0, "fails", "P", "cools 30s"},
			{5 * s, "says", "A", ""},
			{29 * s, "", "B", "waits 1s"},
			{35 * s, "says", "A", "changed"},
			{35 * s, "", "P", "waits 0s, behind"},
		},
		"the provider is down for all": {
			{0, "asks", "A", ""},
			{0, "fails", "A", "cools 30s"},
			{30 * s, "asks", "B", ""},
			{30 * s, "fails", "B", "cools 1m0s, repeat"},
			{90 * s, "asks", "C", ""},
			{90 * s, "ends", "C", ""},
			{90 * s, "", "A", "waits 0s"},
			{90 * s, "", "B", "waits 0s"},
		},
		"two bad tasks are found one after the other": {
			{0, "asks", "P", ""},
			{0, "fails", "P", "cools 30s"},
			{30 * s, "asks", "Q", ""},
			{30 * s, "fails", "Q", "cools 1m0s, repeat"},
			{90 * s, "asks", "A", ""},
			{90 * s, "ends", "A", ""},
			{90 * s, "asks", "P", ""},
			{90 * s, "fails", "P", "own 1"},
			{90 * s, "", "P", "waits 30s, behind"},
			{90 * s, "asks", "Q", ""},
			{90 * s, "fails", "Q", "own 1"},
			{90 * s, "asks", "B", ""},
			{120 * s, "asks", "P", ""},
			{120 * s, "fails", "P", "own 2"},
			{120 * s, "", "P", "waits 1m0s, behind"},
		},
		"it was in a wall, and is left alone": {
			{0, "asks", "A", ""},
			{0, "asks", "P", ""},
			{0, "fails", "A", "cools 30s"},
			{0, "fails", "P", "repeat"},
			{30 * s, "asks", "A", ""},
			{60 * s, "ends", "A", ""},
			{60 * s, "asks", "P", ""},
			{60 * s, "fails last", "P", "own 1"},
			{60 * s, "", "P", "waits 16m0s, behind"},
			{1020 * s, "asks", "P", ""},
			{1020 * s, "fails last", "P", "own 2"},
			{1020 * s, "", "P", "waits 30m0s, behind"},
			{2820 * s, "asks", "P", ""},
			{2820 * s, "fails last", "P", "own 3, barred"},
		},
		"it is the last one": {
			{0, "asks", "A", ""},
			{0, "ends", "A", ""},
			{s, "asks", "P", ""},
			{s, "fails last", "P", "cools 30s"},
			{31 * s, "asks", "P", ""},
			{31 * s, "fails last", "P", "own 1"},
			{31 * s, "", "P", "waits 16m0s, behind"},
			{991 * s, "asks", "P", ""},
			{991 * s, "ends", "P", ""},
			{991 * s, "", "P", "waits 0s"},
		},
		"others wait for it": {
			{0, "asks", "A", ""}, {0, "ends", "A", ""}, {s, "asks", "P", ""}, {s, "fails", "P", "cools 30s"}, {31 * s, "asks", "P", ""}, {31 * s, "fails", "P", "cools 1m0s, repeat"},
		},
		"nobody was ever answered": {
			{0, "asks", "P", ""}, {0, "fails last", "P", "cools 30s"}, {30 * s, "asks", "P", ""}, {30 * s, "fails last", "P", "cools 1m0s, repeat"},
		},
		"it was in a wall, and is in the next one": {
			{0, "asks", "A", ""},
			{0, "asks", "P", ""},
			{0, "fails", "A", "cools 30s"},
			{0, "fails", "P", "repeat"},
			{30 * s, "asks", "A", ""},
			{60 * s, "ends", "A", ""},
			{60 * s, "asks", "B", ""},
			{60 * s, "asks", "P", ""},
			{60 * s, "fails", "B", "cools 30s"},
			{60 * s, "fails", "P", "repeat"},
			{90 * s, "asks", "B", ""},
			{91 * s, "ends", "B", ""},
			{91 * s, "", "P", "waits 0s"},
			{91 * s, "asks", "P", ""},
			{92 * s, "fails", "P", "own 1"},
		},
		"its fault came in a usage limit": {
			{0, "asks", "A", ""},
			{0, "asks", "P", ""},
			{0, "fails", "P", "cools 30s"},
			{0, "limited", "A", "cools 1h0m0s, repeat"},
			{time.Hour, "asks", "A", ""},
			{time.Hour, "ends", "A", ""},
			{time.Hour, "asks", "P", ""},
			{time.Hour, "fails", "P", "own 1"},
		},
		"it was served in the end": {
			{0, "asks", "P", ""},
			{0, "fails", "P", "cools 30s"},
			{30 * s, "asks", "A", ""},
			{30 * s, "ends", "A", ""},
			{30 * s, "", "P", "waits 0s, behind"},
			{60 * s, "asks", "P", ""},
			{60 * s, "ends", "P", ""},
			{60 * s, "", "P", "waits 0s"},
		},
		"it is at work again when another is served": {
			{0, "asks", "P", ""},
			{0, "fails", "P", "cools 30s"},
			{30 * s, "asks", "P", ""},
			{31 * s, "says", "P", "changed"},
			{31 * s, "asks", "A", ""},
			{32 * s, "says", "A", "changed"},
			{33 * s, "ends", "P", ""},
			{33 * s, "", "P", "waits 0s"},
		},
		"one job probes": {
			{0, "asks", "A", ""},
			{0, "asks", "B", ""},
			{20 * s, "fails", "A", "cools 30s"},
			{21 * s, "fails", "B", "repeat"},
			{50 * s, "", "C", "waits 0s"},
			{50 * s, "asks", "C", ""},
			{50 * s, "", "D", "waits 30s"},
			{55 * s, "", "A", "waits 25s, rank 1"},
			{60 * s, "says", "C", "changed"},
			{60 * s, "", "D", "waits 0s"},
		},
		"a probe that lasts has been answered": {
			{0, "asks", "A", ""}, {20 * s, "fails", "A", "cools 30s"}, {50 * s, "asks", "C", ""}, {70 * s, "", "D", "waits 10s"}, {80 * s, "", "D", "waits 0s"},
		},
		"a limit is nobody's fault": {
			{0, "asks", "P", ""},
			{0, "limited", "P", "cools 1h0m0s"},
			{0, "", "A", "waits 1h0m0s"},
			{time.Hour, "asks", "A", ""},
			{time.Hour, "ends", "A", ""},
			{time.Hour, "", "P", "waits 0s"},
		},
		"a limit holds though an older attempt goes on": {
			{0, "asks", "A", ""},
			{0, "asks", "P", ""},
			{0, "limited", "P", "cools 1h0m0s"},
			{10 * time.Minute, "says", "A", ""},
			{11 * time.Minute, "ends", "A", ""},
			{11 * time.Minute, "", "B", "waits 49m0s"},
		},
		"it failed another before the agent began": {
			{0, "asks", "A", ""},
			{0, "asks", "B", ""},
			{0, "asks", "C", ""},
			{0, "begins", "A", ""},
			{10 * s, "fails", "A", "cools 30s"},
			{15 * s, "begins", "B", "waits 25s"},
			{40 * s, "begins", "B", ""},
			{40 * s, "begins", "C", "waits 30s"},
			{41 * s, "says", "B", "changed"},
			{41 * s, "begins", "C", ""},
		},
		"it may be asked, though others were failed when it was chosen": {
			{0, "asks", "A", ""}, {0, "fails", "A", "cools 30s"}, {30 * s, "asks", "B", ""}, {90 * s, "begins", "B", ""},
		},
		"refused, and out": {
			{0, "asks", "A", ""},
			{0, "ends", "A", ""},
			{0, "asks", "A", ""},
			{0, "refuses", "A", "cools 5s"},
			{5 * s, "asks", "B", ""},
			{5 * s, "refuses", "B", "cools 10s, repeat"},
			{15 * s, "asks", "A", ""},
			{15 * s, "refuses", "A", "cools 30m0s, repeat"},
			{15 * s, "", "C", "waits 30m0s, last"},
			{1815 * s, "asks", "C", ""},
			{1816 * s, "says", "C", "changed"},
			{1816 * s, "", "A", "waits 0s"},
		},
		"many refusals in no time are no reason": {
			{0, "asks", "A", ""},
			{0, "asks", "B", ""},
			{0, "asks", "C", ""},
			{0, "refuses", "A", "cools 5s"},
			{s, "refuses", "B", "repeat"},
			{s, "refuses", "C", "repeat"},
			{s, "", "A", "waits 4s, rank 1"},
		},
	} {
		p := night("a")
		for i, st := range steps {
			if got := p.take(st); got != st.wants {
				t.Errorf("%s: step %d, %s %s: got %q, want %q", name, i, st.task, st.does, got, st.wants)
			}
		}
	}
}

// take has a step happen, and says what follows.
func (p *Pool) take(st step) string {
	now := at(st.at)
	fault := RunnerFault{Outcome: attempts.Provider, Why: "why"}
	switch st.does {
	case "asks":
		p.Ask("a", st.task, now)
		return ""
	case "begins":
		if rest, _ := p.Begin("a", st.task, now); rest > 0 {
			return "waits " + rest.String()
		}
		return ""
	case "says":
		if p.NoteActivity("a", st.task, now) {
			return "changed"
		}
		return ""
	case "ends":
		p.Answered("a", st.task, now)
		return ""
	case "":
		return p.stands(st.task, now)
	case "fails last":
		fault.Alone, fault.Last = true, true
	case "refuses":
		fault.Outcome = attempts.Auth
	case "limited":
		fault.Outcome, fault.ResetAt = attempts.Quota, now.Day.Add(time.Hour)
	}
	r := p.Fail("a", st.task, fault, now)
	var words []string
	if r.Cooldown != nil {
		words = append(words, "cools "+r.Cooldown.Until.Sub(now.Day).String())
	}
	if r.Own > 0 {
		words = append(words, fmt.Sprint("own ", r.Own))
	}
	if r.Repeat {
		words = append(words, "repeat")
	}
	if r.Barred {
		words = append(words, "barred")
	}
	return joined(words)
}

// stands says when a task may ask the runner, and who goes before it.
func (p *Pool) stands(task string, now Instant) string {
	r := p.runners.of("a")
	words := []string{"waits " + max(r.opensFor(task, now, p.Backoff).Rest(now), 0).String()}
	switch rank := r.rank(task); {
	case rank >= lastRank:
		words = append(words, "last")
	case rank >= ownRank:
		words = append(words, "behind")
	case rank > 0:
		words = append(words, fmt.Sprint("rank ", rank))
	}
	if r := p.Ranks(); !slices.Contains(r, p.runners.of("a").rank(task)) || !slices.IsSorted(r) {
		words = append(words, fmt.Sprint("ranks ", r))
	}
	return joined(words)
}

func joined(words []string) string {
	text := ""
	for i, w := range words {
		if i > 0 {
			text += ", "
		}
		text += w
	}
	return text
}

// New work waits for a reviewer whose provider is down, and not for one that is not logged in.
func TestWorkGoesOnWithoutALogin(t *testing.T) {
	t.Parallel()
	p := night("a")
	p.Panel = []string{"judge"}
	p.fails("judge", "X", attempts.Provider, 0, 0)
	p.fails("judge", "X", attempts.Provider, time.Minute, 0)
	p.fails("judge", "X", attempts.Auth, 2*time.Minute, 0)
	if p.PanelOut() {
		t.Error("after one refusal new work goes on without the reviewer")
	}
	if p.fails("judge", "Y", attempts.Auth, 3*time.Minute, 0); !p.PanelOut() {
		t.Error("after two refusals in a row new work waits for the reviewer")
	}
	if p.serves("judge", "X", 4*time.Minute); p.PanelOut() {
		t.Error("the reviewer has answered, and new work goes on without it")
	}
}

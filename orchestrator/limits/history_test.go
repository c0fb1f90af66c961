package limits

import (
	"testing"
	"time"

	"relay/attempts"
)

// After a run that was killed one attempt asks a runner before all others do, unless these have another one.
func TestProbe(t *testing.T) {
	t.Parallel()
	p := night("a")
	p.Probe("a", at(0))
	if name, _, ok := p.Pick("T1", "", at(0)); !ok || name != "a" {
		t.Fatalf("T1 gets %q", name)
	}
	p.Ask("a", "T1", at(0))
	if name, _, ok := p.Pick("T2", "", at(0)); ok {
		t.Errorf("T2 gets %q before T1 was answered", name)
	}
	if _, opens := p.Opens("T2", "", nil, at(0)); opens.Rest(at(0)) != 30*time.Second {
		t.Errorf("T2 waits for %s", opens.Rest(at(0)))
	}
	if !p.NoteActivity("a", "T1", at(time.Second)) {
		t.Error("T1 was answered, and nothing has changed")
	}
	if _, _, ok := p.Pick("T2", "", at(time.Second)); !ok {
		t.Error("T2 gets nobody after T1 was answered")
	}
	two := night("a", "b")
	two.Probe("a", at(0))
	two.Ask("a", "T1", at(0))
	if name, _, _ := two.Pick("T2", "", at(0)); name != "a" {
		t.Errorf("T2 gets %q", name)
	}
}

// A task that one runner fails alone goes to another at once, and is spent when none is left.
func TestSpent(t *testing.T) {
	t.Parallel()
	p := night("a", "b")
	p.fails("a", "P", attempts.Provider, 0, 0)
	if who, _, _ := p.Pick("P", "", at(0)); who != "b" {
		t.Errorf("P goes to %q, want b", who)
	}
	p.serves("a", "A", time.Minute)
	for _, runner := range []string{"b", "a", "a", "b", "b"} {
		if why, yes := p.Spent("P", ""); yes {
			t.Errorf("spent too early: %s", why)
		}
		p.fails(runner, "P", attempts.Provider, 2*time.Hour, 0)
		p.serves(runner, "A", 2*time.Hour)
	}
	if why, yes := p.Spent("P", ""); !yes || why != "a failed 3 times, b failed 3 times" {
		t.Errorf("got %q, %v", why, yes)
	}
	if who, _, ok := p.Pick("P", "", at(9*time.Hour)); ok {
		t.Errorf("P goes to %q, want nobody", who)
	}
	if _, yes := p.Spent("A", ""); yes {
		t.Error("A is spent")
	}
}

// With a deadline whoever is out is waited for as long as it can be asked once more.
func TestLostAtTheDeadline(t *testing.T) {
	t.Parallel()
	for until, want := range map[time.Duration]bool{20 * time.Minute: true, time.Hour: false} {
		p := night("a")
		end := at(0).After(until)
		p.Deadline = &end
		p.refuseAll("a", -10*time.Second)
		if _, lost := p.Hopeless("", p.Panel, at(0)); lost != want {
			t.Errorf("until %s: lost %v, want %v", until, lost, want)
		}
	}
}

// Many relays that wait for one reset do not all ask in the same second; none asks before it, nor much later.
func TestWaitsAreSpread(t *testing.T) {
	t.Parallel()
	most := func(n time.Duration) time.Duration { return n }
	for name, c := range map[string]struct {
		reset  time.Duration // 0: not known
		jitter func(time.Duration) time.Duration
		want   time.Duration
	}{
		"nobody draws":     {reset: 5 * time.Hour, want: 5 * time.Hour},
		"a long wait":      {reset: 5 * time.Hour, jitter: most, want: 5*time.Hour + 3*time.Minute},
		"a short wait":     {reset: time.Minute, jitter: most, want: time.Minute + leastSpread},
		"a very long wait": {reset: 20 * 24 * time.Hour, jitter: most, want: 20*24*time.Hour + mostSpread},
		"a back-off":       {jitter: most, want: 30*time.Second + leastSpread},
	} {
		p := night("a")
		p.Jitter = c.jitter
		cooling := p.fails("a", "X", attempts.Quota, 0, c.reset).Cooldown
		if cooling == nil || !cooling.Until.Equal(in(c.want)) || cooling.Named != (c.reset > 0) {
			t.Errorf("%s: got %+v, want %s", name, cooling, c.want)
		}
		if rest := p.runners.of("a").opensFor("X", at(0), p.Backoff).Rest(at(0)); rest != c.want {
			t.Errorf("%s: got %s, want %s", name, rest, c.want)
		}
		if again := p.Fail("a", "Y", RunnerFault{Outcome: attempts.Quota, ResetAt: in(c.reset)}, at(0)).Cooldown; again != nil {
			t.Errorf("%s: one reset was told twice: %+v", name, again)
		}
	}
}

// What an earlier run was told holds, whatever the clock said then; a back-off is never longer than one can be. What was
// refused is asked at once.
func TestRecall(t *testing.T) {
	t.Parallel()
	const years = 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		off     time.Duration
		named   bool
		outcome attempts.Outcome
		want    time.Duration
	}{
		"a limit":                     {off: 5 * time.Hour, named: true, outcome: attempts.Quota, want: 5 * time.Hour},
		"a limit that is over":        {off: -time.Minute, named: true},
		"a limit of a wrong clock":    {off: 10 * years, named: true},
		"a back-off":                  {off: time.Minute, want: time.Minute},
		"a back-off of a wrong clock": {off: 20 * time.Hour, want: 15 * time.Minute},
		"a lost login":                {off: 20 * time.Minute, outcome: attempts.Auth},
		"a program that was missing":  {off: 20 * time.Minute, outcome: attempts.Start},
	} {
		p := night("a")
		p.Recall(map[string]attempts.Cooldown{"a": {Runner: "a", Until: in(c.off), Named: c.named, Why: "limit", Outcome: c.outcome}}, at(0))
		if rest := max(0, p.runners.of("a").opensFor("X", at(0), p.Backoff).Rest(at(0))); rest != c.want {
			t.Errorf("%s: got %s, want %s", name, rest, c.want)
		}
		if got := p.Cooldowns(at(0)); len(got) > 0 != (c.want > 0) {
			t.Errorf("%s: cooling are %v", name, got)
		}
	}
}

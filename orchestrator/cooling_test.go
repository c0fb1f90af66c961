package orchestrator

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
)

// Many relays that wait for one reset do not all ask in the same second; none asks before it, nor much later.
func TestWaitsAreSpread(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)
	now := moment{day: day, run: time.Hour}
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
		p := newPool([]string{"a"}, nil, 30*time.Second, 15*time.Minute)
		p.jitter = c.jitter
		reset := time.Time{}
		if c.reset > 0 {
			reset = day.Add(c.reset)
		}
		cooling := p.cool("a", "limit", now, reset)
		if cooling == nil || !cooling.Until.Equal(day.Add(c.want)) || cooling.Named != (c.reset > 0) {
			t.Errorf("%s: got %+v, want %s", name, cooling, c.want)
		}
		if rest := p.member("a").opens.rest(now); rest != c.want {
			t.Errorf("%s: got %s, want %s", name, rest, c.want)
		}
		if again := p.cool("a", "limit", now, reset); again != nil {
			t.Errorf("%s: one reset was told twice: %+v", name, again)
		}
	}
}

// What an earlier run was told holds, whatever the clock said then; a back-off is never longer than one can be.
func TestEarlierCoolingIsRecalled(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)
	now := moment{day: day, run: time.Hour}
	for name, c := range map[string]struct {
		off   time.Duration
		named bool
		want  time.Duration
	}{
		"a limit":                     {off: 5 * time.Hour, named: true, want: 5 * time.Hour},
		"a limit that is over":        {off: -time.Minute, named: true},
		"a limit of a wrong clock":    {off: 10 * years, named: true},
		"a back-off":                  {off: time.Minute, want: time.Minute},
		"a back-off of a wrong clock": {off: 20 * time.Hour, want: 15 * time.Minute},
	} {
		p := newPool([]string{"a"}, nil, 30*time.Second, 15*time.Minute)
		p.recall(map[string]attempts.Cooling{"a": {Runner: "a", Until: day.Add(c.off), Named: c.named, Why: "limit"}}, now)
		if rest := max(0, p.member("a").opens.rest(now)); rest != c.want {
			t.Errorf("%s: got %s, want %s", name, rest, c.want)
		}
		if got := p.cooling(now); slices.Contains(got, "a") != (c.want > 0) {
			t.Errorf("%s: cooling are %v", name, got)
		}
	}
}

func TestTurns(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)
	now := moment{day: day}
	for want, happened := range map[string]func(*pool) (from, to string){
		"from a to b: a is not asked before " + clockText(day.Add(time.Hour)) + ": limit": func(p *pool) (string, string) {
			p.cool("a", "limit", now, day.Add(time.Hour))
			return "a", "b"
		},
		"from a to b: a: not logged in":          func(p *pool) (string, string) { p.drop("a", "not logged in"); return "a", "b" },
		"from b to z":                            func(*pool) (string, string) { return "b", "z" },
		"back from b to a: a may be asked again": func(*pool) (string, string) { return "b", "a" },
	} {
		p := newPool([]string{"a", "b"}, nil, 30*time.Second, 15*time.Minute)
		from, to := happened(p)
		if got := p.turn(from, to, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// recorded is what a simulated night has told of runners and waits, in words.
func recorded(t *testing.T, dir string) []string {
	t.Helper()
	var log []string
	err := attempts.Replay(dir, func(e attempts.Event) error {
		switch {
		case e.Note != nil:
			log = append(log, e.Note.Kind+": "+e.Note.Text)
		case e.Cooling != nil:
			log = append(log, "cooling: "+e.Cooling.Runner+" "+stampText(e.Cooling.Until)+" "+e.Cooling.Why)
		case e.Waiting != nil:
			log = append(log, "waiting: "+e.Waiting.For+" "+stampText(e.Waiting.Until)+" "+e.Waiting.Why)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return log
}

// Every wait and every change of runner is in the log, with its reason.
func TestWaitsAndSwitchesAreRecorded(t *testing.T) {
	t.Parallel()
	script := map[string][]step{
		"A": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 90 * time.Second}, {takes: time.Minute, outcome: attempts.Quota, why: "no more", resetIn: time.Hour}},
		"X": {{takes: time.Minute, outcome: attempts.Auth, why: "not logged in", out: true}},
	}
	simulate(t, threeInARow, Options{Runners: []string{"claude", "codex"}}, script, func(s *simulated, store *attempts.Store, err error) {
		if err != nil {
			t.Error(err)
		}
		want := []string{
			"cooling: claude 2000-01-01T00:02:30Z limit",
			"switch: A goes from claude to codex: claude is not asked before " + clockText(time.Date(2000, 1, 1, 0, 2, 30, 0, time.UTC)) + ": limit",
			"cooling: codex 2000-01-01T01:02:00Z no more",
			"waiting: claude 2000-01-01T00:02:30Z limit",
			"switch: A goes back from codex to claude: claude may be asked again",
			"waiting: codex 2000-01-01T01:02:00Z no more",
			"switch: X goes from claude to codex: claude: not logged in",
		}
		if got := recorded(t, s.dir); !slices.Equal(got, want) {
			t.Errorf("after %s the log has\n%s\nwant\n%s", strings.Join(s.log, ", "), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
